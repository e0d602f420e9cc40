//! A worker that measures nothing: it answers at once.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use lift_explore::measure::messages::{Answer, Hello, PROTOCOL, Reply, line};
use lift_explore::measure::{Identity, Limits, Verdict};
use serde_json::Value;

/// Serves until it is told that it is over. A conversation that goes wrong ends, and that is noticed as a loss.
pub fn answer(address: SocketAddr, token: &str, number: usize) -> Option<()> {
    let connection = TcpStream::connect(address).ok()?;
    connection.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(connection.try_clone().ok()?).lines();
    let mut hear = || lines.next().and_then(Result::ok);
    let say = |text: String| (&connection).write_all(format!("{text}\n").as_bytes()).ok();
    let identity = identity(number);
    let (version, name) = (identity.version.clone(), identity.host.clone());
    say(line(&Hello { protocol: PROTOCOL, version, token: token.to_string(), name }))?;
    let welcome: Reply = serde_json::from_str(&hear()?).ok()?;
    if welcome != Reply::Welcome {
        return None;
    }
    hear()?;
    say(line(&Answer::Opened(Box::new(identity))))?;
    let kind = "gpu".to_string();
    say(line(&Answer::Ready { kind, seconds: 0.0, reference_ms: None, is_kept: false }))?;
    loop {
        let job: Value = serde_json::from_str(&hear()?).ok()?;
        let id = job.get("id")?.as_u64()?;
        say(line(&Answer::Waits))?;
        hear()?;
        let verdict = Verdict::Ok { samples_ms: vec![1.0] };
        say(format!("{}\n{}", line(&Answer::Ran), line(&Answer::Done { id, verdict })))?;
    }
}

/// Every worker has a device of its own, so that none waits for another.
fn identity(number: usize) -> Identity {
    let host = format!("worker{number}");
    Identity {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_string(),
        unit: host.clone(),
        host,
        fingerprint: "one that answers at once".to_string(),
        device: Limits {
            id: "cuda:0".to_string(),
            name: "one that answers at once".to_string(),
            kind: "gpu".to_string(),
            way: "cuda".to_string(),
            compute_units: 1,
            memory_bytes: 0,
            max_buffer_bytes: 0,
            max_group_size: 1,
            max_group_sizes: [1; 3],
            max_groups: [1; 3],
            local_memory_bytes: 0,
            driver: String::new(),
            fp16: false,
            fp64: false,
            warp: 1,
        },
    }
}
