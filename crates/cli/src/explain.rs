//! `lift run --explain`: how a program is computed.

use lift::{KernelPlan, Stored};
use serde_json::json;

/// The plan for people: a paragraph a kernel.
pub fn told(plan: &[KernelPlan]) -> Vec<String> {
    plan.iter().flat_map(paragraph).collect()
}

fn paragraph(kernel: &KernelPlan) -> Vec<String> {
    let points = kernel.points.map_or("any number of".to_owned(), |n| n.to_string());
    let by = match (kernel.groups, kernel.group.is_empty()) {
        (Some(groups), false) => format!("{groups} groups of {} threads", product(&kernel.group)),
        (None, false) => format!("groups of {} threads", product(&kernel.group)),
        (_, true) if kernel.is_shared => "shared by the processor's threads".to_owned(),
        (_, true) => "by one thread of the processor".to_owned(),
    };
    let mut lines = vec![format!("{}: {points} points, {by}", kernel.name)];
    if !kernel.reads.is_empty() {
        lines.push(format!("  reads {}", kernel.reads.join(", ")));
    }
    let stores: Vec<String> = kernel.stores.iter().map(stored).collect();
    if !stores.is_empty() {
        lines.push(format!("  stores {}", stores.join(", ")));
    }
    if let Some(bytes) = kernel.local_bytes {
        lines.push(format!("  local memory of a group: {bytes} bytes"));
    }
    if !kernel.schedule.is_empty() {
        lines.push(format!("  {}", kernel.schedule.join(" ")));
    }
    lines.extend(kernel.why.iter().map(|reason| format!("  {reason}")));
    lines
}

fn product(group: &[i128]) -> String {
    let numbers: Vec<String> = group.iter().map(i128::to_string).collect();
    numbers.join(" x ")
}

fn stored(array: &Stored) -> String {
    match array.bytes {
        Some(bytes) => format!("{} ({bytes} bytes)", array.name),
        None => array.name.clone(),
    }
}

/// The plan for programs.
pub fn json(plan: &[KernelPlan]) -> serde_json::Value {
    let stores = |stored: &Stored| {
        json!({
            "name": stored.name,
            "bytes": stored.bytes,
            "result": stored.is_result,
            "read_by": stored.read_by,
        })
    };
    let kernel = |kernel: &KernelPlan| {
        json!({
            "name": kernel.name,
            "points": kernel.points,
            "threads": kernel.threads(),
            "groups": kernel.groups,
            "group": kernel.group,
            "shared": kernel.is_shared,
            "reads": kernel.reads,
            "stores": kernel.stores.iter().map(stores).collect::<Vec<_>>(),
            "local_bytes": kernel.local_bytes,
            "schedule": kernel.schedule,
            "why": kernel.why,
        })
    };
    plan.iter().map(kernel).collect()
}
