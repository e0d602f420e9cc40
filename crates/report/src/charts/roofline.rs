//! Where a program stands under what a machine's arithmetic and memory allow.

use super::times::power_below;
use crate::axes::{Frame, HEIGHT, Scale, WIDTH};
use crate::clock::Roof;
use crate::numbers::short;
use crate::svg::Svg;

/// The roof rises with operations a byte until arithmetic binds; the mark is the program as it is predicted.
pub fn roofline(roof: &Roof) -> String {
    let mut svg = Svg::new("roofline", "Speed over operations a byte", WIDTH, HEIGHT);
    let ridge = roof.peak_gflops / roof.peak_gb.max(1e-9);
    let low = power_below(roof.intensity.min(ridge).max(1e-3)) / 10.0;
    let high = 100.0 * power_below(roof.intensity.max(ridge));
    let bottom = power_below((low * roof.peak_gb).min(roof.gflops).max(1e-3));
    let x = (Scale::logarithmic(low, high), "operations a byte");
    let y = (Scale::logarithmic(bottom, 10.0 * power_below(roof.peak_gflops)), "GFLOP/s");
    let frame = Frame::draw(&mut svg, x, y, 0);
    let edge = [
        frame.at(low, low * roof.peak_gb),
        frame.at(ridge, roof.peak_gflops),
        frame.at(high, roof.peak_gflops),
    ];
    let (flops, bytes) = (short(roof.peak_gflops), short(roof.peak_gb));
    svg.polyline("curve", &edge, &format!("{flops} GFLOP/s, {bytes} GB/s"));
    let under = roof.peak_gflops.min(roof.intensity * roof.peak_gb);
    svg.line("ideal", frame.at(roof.intensity, roof.gflops), frame.at(roof.intensity, under));
    let title = format!(
        "{}: {} operations a byte, {} GFLOP/s",
        roof.title,
        short(roof.intensity),
        short(roof.gflops)
    );
    svg.circle("mark", frame.at(roof.intensity, roof.gflops), 5.0, &title);
    svg.finish()
}
