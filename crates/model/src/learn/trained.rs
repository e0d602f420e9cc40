//! Models that were fitted, as files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::learn::dataset::{Dataset, Layout};
use crate::learn::error::LearnError;
use crate::learn::knn::Knn;
use crate::learn::trees::Trees;

/// Of the file.
const FORMAT: u64 = 2;

/// Learns how fast candidates are compared with the best of their problem.
pub trait Model {
    fn fit(&mut self, data: &Dataset) -> Result<(), LearnError>;

    /// About 1 for the best of a problem, near 0 for slow ones. Only the order matters.
    fn predict(&self, features: &[f64]) -> f64;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Knn,
    Trees,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Knn, Kind::Trees];

    /// One that knows nothing yet.
    pub fn model(self, seed: u64) -> Box<dyn Model> {
        match self {
            Kind::Knn => Box::new(Knn::default()),
            Kind::Trees => Box::new(Trees::new(seed)),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Knn => "knn",
            Kind::Trees => "trees",
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Kind, String> {
        let named = Kind::ALL.into_iter().find(|kind| kind.to_string() == name);
        named.ok_or_else(|| format!("there is no model `{name}`"))
    }
}

/// A model with what one must know to ask it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trained {
    format: u64,
    /// The device whose measurements it was trained on.
    pub device: String,
    pub feature_version: u32,
    pub features: Vec<String>,
    /// The programs it has seen.
    pub programs: Vec<String>,
    /// How many measured candidates it has seen.
    pub samples: usize,
    #[serde(flatten)]
    learned: Learned,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "model", rename_all = "lowercase")]
enum Learned {
    Knn(Knn),
    Trees(Trees),
}

/// As it is written.
#[derive(Serialize)]
struct Saved<'t> {
    #[serde(flatten)]
    trained: &'t Trained,
    checksum: String,
}

impl Trained {
    /// Fits a model to samples of one device.
    pub fn fit(kind: Kind, data: &Dataset, seed: u64) -> Result<Trained, LearnError> {
        let device = data.device()?.to_string();
        let learned = match kind {
            Kind::Knn => {
                let mut knn = Knn::default();
                knn.fit(data)?;
                Learned::Knn(knn)
            }
            Kind::Trees => {
                let mut trees = Trees::new(seed);
                trees.fit(data)?;
                Learned::Trees(trees)
            }
        };
        Ok(Trained {
            format: FORMAT,
            device,
            feature_version: data.layout().version,
            features: data.layout().names.clone(),
            programs: data.programs().into_iter().map(String::from).collect(),
            samples: data.measured().1.len(),
            learned,
        })
    }

    pub fn kind(&self) -> Kind {
        match self.learned {
            Learned::Knn(_) => Kind::Knn,
            Learned::Trees(_) => Kind::Trees,
        }
    }

    /// See [`Model::predict`].
    pub fn predict(&self, features: &[f64]) -> f64 {
        match &self.learned {
            Learned::Knn(knn) => knn.predict(features),
            Learned::Trees(trees) => trees.predict(features),
        }
    }

    /// Refuses to speak about a device whose measurements it has not seen.
    pub fn for_device(&self, device: &str) -> Result<(), LearnError> {
        if self.device == device {
            return Ok(());
        }
        Err(LearnError::OtherDevice { trained: self.device.clone(), asked: device.to_string() })
    }

    /// The file: the model and the checksum of the rest.
    pub fn to_json(&self) -> String {
        let saved = Saved { trained: self, checksum: self.checksum() };
        // Every field is a number, a text or a list or record of such.
        serde_json::to_string(&saved).unwrap_or_default() + "\n"
    }

    /// Of all that the model is, whatever the spaces and the order in its file (FNV-1a of 128 bits).
    fn checksum(&self) -> String {
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = (1 << 88) + 0x13b;
        let text = serde_json::to_string(self).unwrap_or_default();
        let mix = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        format!("{:032x}", text.bytes().fold(BASIS, mix))
    }

    /// Reads what [`Trained::to_json`] wrote, for features of this layout.
    pub fn read(text: &str, layout: &Layout) -> Result<Trained, LearnError> {
        let not_a_model = |message: String| LearnError::NotAModel { message };
        let value: Value = serde_json::from_str(text).map_err(|e| not_a_model(e.to_string()))?;
        match value.get("format").and_then(Value::as_u64) {
            None => return Err(not_a_model("it has no `format`".to_string())),
            Some(found) if found > FORMAT => {
                return Err(LearnError::NewerFormat { found, known: FORMAT });
            }
            Some(found) if found < FORMAT => {
                return Err(not_a_model(format!("its format {found} has no checksum")));
            }
            Some(_) => {}
        }
        let checksum = value.get("checksum").and_then(Value::as_str).map(str::to_string);
        let trained: Trained =
            serde_json::from_value(value).map_err(|e| not_a_model(e.to_string()))?;
        check_layout(trained.feature_version, &trained.features, layout)?;
        let width = layout.names.len();
        let sound = match &trained.learned {
            Learned::Knn(knn) => knn.is_sound(width),
            Learned::Trees(trees) => trees.is_sound(width),
        };
        if !sound {
            return Err(not_a_model("its parts do not fit together".to_string()));
        }
        if checksum != Some(trained.checksum()) {
            return Err(not_a_model("it was altered: its checksum is another".to_string()));
        }
        Ok(trained)
    }
}

fn check_layout(version: u32, names: &[String], layout: &Layout) -> Result<(), LearnError> {
    if version != layout.version {
        return Err(LearnError::OtherFeatures { found: version, known: layout.version });
    }
    let differs = |k: &usize| names.get(*k) != layout.names.get(*k);
    match (0..names.len().max(layout.names.len())).find(differs) {
        None => Ok(()),
        Some(k) => {
            let name = names.get(k).or(layout.names.get(k)).cloned().unwrap_or_default();
            Err(LearnError::OtherNames { name })
        }
    }
}
