//! Where an expression stands: what may be used there depends on it.

use lift_ir::MapKind;

/// Who computes an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Outside all parallel maps.
    Host,
    /// A work-group together: inside `mapWrg`, outside `mapLcl` and `mapWarp`.
    Group,
    /// A warp together: inside `mapWarp`, outside `mapLane`.
    Warp,
    /// One work-item.
    Item,
    /// One work-item, in a function of scalars: no arrays are made.
    Scalar,
}

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub level: Level,
    /// The parallel maps around, outermost first.
    pub nest: Vec<MapKind>,
    /// Whoever takes the value says where it is stored, so a `mapLcl` needs no `to…`.
    pub decided: bool,
}

impl Scope {
    pub fn host() -> Scope {
        Scope { level: Level::Host, nest: Vec::new(), decided: true }
    }

    pub fn scalar() -> Scope {
        Scope { level: Level::Scalar, nest: Vec::new(), decided: false }
    }

    pub fn at(&self, level: Level) -> Scope {
        Scope { level, ..self.clone() }
    }

    pub fn decided(&self, decided: bool) -> Scope {
        Scope { decided, ..self.clone() }
    }

    /// Inside a map of this kind.
    pub fn inside(&self, kind: MapKind, level: Level) -> Scope {
        let mut inner = self.at(level);
        if kind.dimension().is_some() {
            inner.nest.push(kind);
        }
        inner
    }

    /// A dimension in which no map of this sort stands around.
    pub fn is_free(&self, kind: MapKind) -> bool {
        !self.nest.contains(&kind)
    }

    /// Inside some `mapWrg`.
    pub fn is_grouped(&self) -> bool {
        self.nest.iter().any(|kind| matches!(kind, MapKind::Wrg(_)))
    }
}
