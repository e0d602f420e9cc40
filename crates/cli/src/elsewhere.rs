//! Workers on other machines, as the command line names them.

use std::path::PathBuf;
use std::sync::Arc;

use lift::tune::{Elsewhere, Listener, Notice, Token};

use crate::report::{Failure, remark};

#[derive(Clone, clap::Args)]
pub struct WorkerOptions {
    /// A command that carries lines to a `lift worker`, as in 'ssh gpu2 lift worker'; may be repeated
    #[arg(long = "worker", value_name = "COMMAND")]
    workers: Vec<String>,
    /// Let `lift worker --connect` come to this address, as in 0.0.0.0:7007
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    listen: Option<String>,
    /// A file with the secret that lets workers in, which nobody else can read
    #[arg(long, value_name = "FILE", requires = "listen")]
    token_file: Option<PathBuf>,
}

impl WorkerOptions {
    /// Begins to listen, where that is asked for.
    pub fn open(&self) -> Result<Elsewhere, Failure> {
        let mut listener = None;
        if let (Some(address), Some(file)) = (&self.listen, &self.token_file) {
            let token = Token::read(file).map_err(Failure::message)?;
            let bound = Listener::bind(address.as_str(), token);
            let bound =
                bound.map_err(|e| Failure::message(format!("cannot listen at {address}: {e}")))?;
            remark(&format!("waiting for workers at {}", bound.address()));
            listener = Some(Arc::new(bound));
        }
        let notice = Notice::new(|text| remark(&format!("worker {text}")));
        Ok(Elsewhere::new(self.workers.clone(), listener, notice))
    }
}
