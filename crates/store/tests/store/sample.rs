// A problem, candidates and measurements that both sides of the tests know: the child includes this
// file, and so does the parent.

fn key() -> ProblemKey {
    ProblemKey {
        program: "def f(xs: [f32; N]) = xs".to_string(),
        name: "f".to_string(),
        sizes: [("N".to_string(), 1024)].into(),
        device: Device {
            fingerprint: "cpu test 1.0".to_string(),
            name: "test".to_string(),
            kind: "cpu".to_string(),
        },
        flags: "fast-math".to_string(),
    }
}

fn candidate(hash: &str) -> Candidate {
    Candidate {
        hash: hash.to_string(),
        text: format!("def {hash}(xs: [f32; 1024]) = mapGlb(id, xs)\n").repeat(20),
        derivation: "map_glb at 0".into(),
        parameters: "T=16,R=4".to_string(),
        global: "1024,1,1".to_string(),
        local: "64,1,1".to_string(),
        kernel_hash: format!("kernel of {hash}"),
    }
}

/// Many samples, so that a write takes several pages and the log is worked off now and then.
fn measurement(n: u64) -> Measurement {
    Measurement {
        outcome: Outcome::Ok,
        message: String::new(),
        samples: (0..200).map(|k| 0.1 + (n * 200 + k) as f64 / 3.0).collect(),
        started: 1_700_000_000 + n as i64,
        seed: u64::MAX - n,
        host: "test".to_string(),
    }
}
