//! What the system says of the host.

use std::fs;
use std::thread;

pub fn name() -> String {
    let fields = ["model name", "Hardware", "CPU part"];
    let info = cpuinfo();
    let found = fields.iter().find_map(|name| field(&info, name));
    found.unwrap_or(std::env::consts::ARCH).to_string()
}

/// The threads that share the loops of kernels: as many as `OMP_NUM_THREADS` says, otherwise one for each core.
pub fn threads() -> u32 {
    let wanted = std::env::var("OMP_NUM_THREADS").ok().and_then(|text| wanted_threads(&text));
    wanted.unwrap_or_else(|| {
        thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
    })
}

/// What `OMP_NUM_THREADS` says of loops that are in no other: the first number of a list.
fn wanted_threads(text: &str) -> Option<u32> {
    text.split(',').next()?.trim().parse().ok().filter(|n| *n > 0)
}

/// What `-march=native` depends on, so that a cache shared by several machines serves each its own.
pub fn instruction_set() -> String {
    let info = cpuinfo();
    let fields = ["model name", "model", "flags", "CPU part", "Features"];
    let facts = fields.iter().filter_map(|name| field(&info, name));
    facts.fold(std::env::consts::ARCH.to_string(), |all, fact| all + "\n" + fact)
}

/// All memory this process may have.
pub fn memory_bytes() -> u64 {
    let all = meminfo("MemTotal").unwrap_or(u64::MAX);
    all.min(group_limit().unwrap_or(u64::MAX))
}

/// Memory that can be had now without ending other programs, where the system says.
pub fn available_bytes() -> Option<u64> {
    let free = meminfo("MemAvailable");
    let group = group_limit().zip(group_use()).map(|(limit, used)| limit.saturating_sub(used));
    match (free, group) {
        (Some(free), Some(group)) => Some(free.min(group)),
        (free, group) => free.or(group),
    }
}

fn cpuinfo() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// The first value of a `name : value` line.
fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

fn meminfo(name: &str) -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes: u64 = field(&info, name)?.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What the control group of a container allows; it reads `max` where there is no limit.
fn group_limit() -> Option<u64> {
    number("/sys/fs/cgroup/memory.max")
}

/// What the group uses, less the file cache, which gives way.
fn group_use() -> Option<u64> {
    let stat = fs::read_to_string("/sys/fs/cgroup/memory.stat").ok()?;
    let cache = stat.lines().find_map(|line| line.strip_prefix("file ")?.parse().ok());
    Some(number("/sys/fs/cgroup/memory.current")?.saturating_sub(cache.unwrap_or(0)))
}

fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let info = "model\t\t: 85\nmodel name\t: A CPU\nflags\t: a b\n";
        assert_eq!(field(info, "model name"), Some("A CPU"));
        assert_eq!(field(info, "model"), Some("85"));
        assert_eq!(field(info, "Features"), None);
    }

    #[test]
    fn the_host_has_threads_and_memory() {
        assert!(threads() >= 1);
        let wanted = ["3", " 2,4", "0", "", "many", "-1"].map(wanted_threads);
        assert_eq!(wanted, [Some(3), Some(2), None, None, None, None]);
        assert!(memory_bytes() > 1 << 20);
        assert!(available_bytes().is_none_or(|available| available <= memory_bytes()));
        assert!(!name().is_empty());
    }
}
