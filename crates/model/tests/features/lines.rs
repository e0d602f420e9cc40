//! Cache lines, banks and working sets of programs small enough to be checked by hand.

use lift_lower::Target;
use lift_model::features::{Features, Machine, features};

use crate::plans::{plan, program, sizes, text};

const N: i128 = 4096;

/// Warps of 32 work-items, lines of 128 bytes: those of 32 floats.
fn on_gpu(source: &str) -> Features {
    let sizes = sizes(&[("N", N), ("M", N)]);
    features(&plan(&text(source), Target::Threads, &sizes), &sizes, &Machine::default())
}

/// Vectors of 8 floats, lines of 64 bytes.
fn on_processor(source: &str) -> Features {
    let sizes = sizes(&[("N", N), ("M", N)]);
    features(&plan(&text(source), Target::Loops, &sizes), &sizes, &Machine::processor(2))
}

#[track_caller]
fn expect(features: &Features, wanted: &[(&str, f64)]) {
    for (name, value) in wanted {
        assert_eq!(features.get(name), Some(*value), "{name}");
    }
}

/// Each work-item takes some elements in a row, one after the other.
fn in_chunks(chunk: u32) -> String {
    format!(
        "def f[N](xs: [f32; N]) -> [f32; N] where N % {chunk} == 0 launch local(64) global(N / {chunk}) =
           xs |> split({chunk}) |> mapGlb(0)(mapSeq(\\x -> x * 2.0)) |> join;"
    )
}

#[test]
fn neighbours_share_a_line() {
    let source = "def f[N](xs: [f32; N]) -> [f32; N] launch local(64) global(N) =
                    xs |> mapGlb(0)(\\x -> x * 2.0);";
    expect(
        &on_gpu(source),
        &[
            ("lines_per_load", 1.0),
            ("lines_per_store", 1.0),
            ("contiguous_part", 1.0),
            ("moved_per_useful_byte", 1.0),
            ("flops_per_byte", 1.0 / 8.0),
        ],
    );
    expect(
        &on_processor(source),
        &[("lines_per_access", 1.0), ("vector_part", 1.0), ("moved_per_useful_byte", 1.0)],
    );
}

/// A compiler loads no vectors where an index is chosen by the variable of the loop.
#[test]
fn a_boundary_in_a_loop_is_no_vector_code() {
    let inside = "def f[N](xs: [f32; N]) -> [f32; N] = xs |> mapGlb(0)(\\x -> x * 2.0);";
    expect(&on_processor(inside), &[("plain_part", 1.0), ("chosen_part", 0.0)]);
    let padded =
        "def f[N](xs: [f32; N]) -> [f32; N] where N % 256 == 0 launch local(256) global(N) =
                    xs |> pad(1, 1, clamp) |> slide(3, 1) |> split(256)
                    |> mapWrg(0)(mapLcl(0)(\\w -> w[0] + w[1] + w[2])) |> join;";
    let found = on_processor(padded);
    // Two of three loads and a store.
    expect(&found, &[("vector_part", 1.0), ("plain_part", 0.0), ("chosen_part", 0.5)]);
    for source in [inside, padded] {
        expect(&on_gpu(source), &[("plain_part", 0.0), ("chosen_part", 0.0)]);
    }
}

/// A sum of numbers one after the other is no vector code. Sums side by side are, and so are sums of vectors.
#[test]
fn a_sum_waits_for_the_number_before() {
    let sums = |of: &str| {
        format!(
            "def f[N](xs: [[f32; N]; N]) -> [[f32; 1]; N] where N % 8 == 0 =
               xs |> mapGlb(0)(\\row -> {of});"
        )
    };
    let plain = sums("[row |> reduceSeq(0.0, (+))]");
    expect(&on_processor(&plain), &[("plain_part", 1.0), ("serial_part", 1.0)]);
    expect(&on_gpu(&plain), &[("serial_part", 0.0)]);
    let vectors = sums(
        "as_scalar([row |> as_vector(8) |> reduceSeq(f32x8(0.0), (+))]) |> reduceSeqUnroll(0.0, (+)) |> repeat(1)",
    );
    expect(&on_processor(&vectors), &[("serial_part", 0.0)]);
    let columns = "def f[N](xs: [[f32; N]; N]) -> [f32; N] where N % 8 == 0 =
                     xs |> transpose |> split(8) |> mapGlb(0)(mapSeq(reduceSeq(0.0, (+)))) |> join;";
    expect(&on_processor(columns), &[("serial_part", 0.0)]);
    let rows = columns.replace("transpose |> ", "");
    expect(&on_processor(&rows), &[("serial_part", 1.0)]);
    let of_groups = columns.replace("mapGlb(0)(mapSeq(", "mapWrg(0)(mapLcl(0)(");
    expect(&on_processor(&of_groups), &[("serial_part", 0.0)]);
}

/// A warp that takes every fourth float spans 512 bytes.
#[test]
fn steps_of_four_spread_a_warp() {
    let source = "def f[N](xs: [[f32; 4]; N]) -> [f32; N] launch local(64) global(N) =
                    xs |> mapGlb(0)(\\row -> row[0] * 2.0);";
    expect(&on_gpu(source), &[("lines_per_load", 4.0), ("strided_part", 0.5)]);
    // 16 sectors of 32 bytes for the loads, 4 for the stores.
    expect(&on_gpu(source), &[("moved_per_useful_byte", (512.0 + 128.0) / (128.0 + 128.0))]);
}

/// Chunks of 32 and more: a line for each work-item.
#[test]
fn chunks_lie_in_different_lines() {
    for chunk in [32, 64] {
        let features = on_gpu(&in_chunks(chunk));
        expect(&features, &[("lines_per_load", 32.0), ("strided_part", 1.0)]);
    }
    expect(&on_gpu(&in_chunks(64)), &[("moved_per_useful_byte", 8.0)]);
    // A processor goes through a chunk in order.
    expect(&on_processor(&in_chunks(64)), &[("lines_per_load", 1.0), ("contiguous_part", 1.0)]);
}

/// Four floats at once: a warp asks for 512 bytes.
#[test]
fn vectors_take_several_lines() {
    let source =
        "def f[N](xs: [f32; N]) -> [f32; N] where N % 4 == 0 launch local(64) global(N / 4) =
                    xs |> as_vector(4) |> mapGlb(0)(\\x -> x * 2.0) |> as_scalar;";
    expect(
        &on_gpu(source),
        &[
            ("lines_per_load", 4.0),
            ("lines_per_store", 4.0),
            ("global_loads", 1.0),
            ("vector_width", 4.0),
            ("moved_per_useful_byte", 1.0),
            ("flops", 4.0),
        ],
    );
}

/// One load of what all work-items share, one of each work-item's own.
#[test]
fn all_read_the_same() {
    let source = "def f[N](xs: [f32; N], c: [f32; 1]) -> [f32; N] launch local(64) global(N) =
                    xs |> mapGlb(0)(\\x -> x * c[0]);";
    expect(
        &on_gpu(source),
        &[("global_loads", 2.0), ("lines_per_load", 1.0), ("same_part", 1.0 / 3.0)],
    );
}

#[test]
fn columns_are_far_apart() {
    let source =
        "def f[N, M](xs: [[f32; M]; N]) -> [[f32; N]; M] launch local(32, 2) global(N, M) =
                    xs |> transpose |> mapGlb(1)(mapGlb(0)(\\x -> x * 2.0));";
    let transposed =
        [("lines_per_load", 32.0), ("lines_per_store", 1.0), ("lines_per_access", 16.5)];
    expect(&on_gpu(source), &transposed);
    // Of 64 bytes, four are used of those that are read, all of those that are written.
    expect(
        &on_processor(source),
        &[("lines_per_load", 8.0), ("vector_part", 0.0), ("moved_per_useful_byte", 17.0 / 2.0)],
    );
}

/// A group of 8 by 4: a warp has a piece of each of 4 rows.
#[test]
fn a_warp_may_have_several_rows() {
    let source = "def f[N, M](xs: [[f32; M]; N]) -> [[f32; M]; N] launch local(8, 4) global(M, N) =
                    xs |> mapGlb(1)(mapGlb(0)(\\x -> x * 2.0));";
    expect(
        &on_gpu(source),
        &[("lines_per_access", 4.0), ("moved_per_useful_byte", 1.0), ("contiguous_part", 1.0)],
    );
}

/// Indices from data: a line for each lane.
#[test]
fn data_decides() {
    let source = "def f[N, M](xs: [f32; M], at: [i32; N]) -> [f32; N] launch local(64) global(N) =
                    at |> mapGlb(0)(\\i -> xs[i]);";
    expect(&on_gpu(source), &[("lines_per_load", 16.5), ("ifs", 1.0), ("global_stores", 1.0)]);
}

/// A tile of 32 by 32 that is written by rows and read by columns: all lanes ask one bank.
#[test]
fn columns_lie_in_one_bank() {
    let source = "def f[N](xs: [[[f32; 32]; 32]; N]) -> [[[f32; 32]; 32]; N]
                    launch local(32, 1) global(32 * N, 1) =
                    xs |> mapWrg(0)(\\tile -> tile |> mapLcl(1)(mapLcl(0)(toLocal(id))) |> transpose
                      |> mapLcl(1)(mapLcl(0)(toGlobal(id))));";
    expect(
        &on_gpu(source),
        &[
            ("local_memory_bytes", 4096.0),
            ("local_loads", 32.0),
            ("local_stores", 32.0),
            ("bank_conflicts", 16.5),
            ("lines_per_access", 1.0),
            ("barriers", 1.0),
        ],
    );
}

/// 64 by 4 results: as many elements, a column on each side, a row above and below.
#[test]
fn neighbours_are_read_once() {
    let sizes = sizes(&[("N", 1024), ("M", 1024)]);
    let plan = plan(&program("stencil/jacobi2d_5"), Target::Threads, &sizes);
    let read = 256.0 + 2.0 * 4.0 + 2.0 * 64.0;
    let found = features(&plan, &sizes, &Machine::default());
    expect(
        &found,
        &[
            ("working_set_bytes", 4.0 * (read + 256.0)),
            ("reuse", 6.0 * 256.0 / (read + 256.0)),
            ("global_size_0", 1024.0),
            ("local_size_0", 64.0),
            ("local_size_1", 4.0),
            ("local_size_2", 1.0),
        ],
    );
}
