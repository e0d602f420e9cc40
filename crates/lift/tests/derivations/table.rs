//! The derivations and what they are tried on.

/// A script with the program it starts from. Sizes are written `M=8,N=4`.
pub struct Derivation {
    pub script: &'static str,
    pub program: &'static str,
    pub entry: &'static str,
    /// For the interpreter, after every step.
    pub small: &'static str,
    /// For devices: with several work-groups.
    pub large: &'static [&'static str],
}

pub const DERIVATIONS: &[Derivation] = &[
    Derivation {
        script: "mm_tiled",
        program: "mm",
        entry: "mm",
        small: "M=4,K=6,N=8,T=2",
        large: &["M=64,K=32,N=48,T=16", "M=24,K=40,N=16,T=8"],
    },
    Derivation {
        script: "mm_blocked",
        program: "mm",
        entry: "mm",
        small: "M=8,K=8,N=4,T=4,R=2",
        large: &["M=64,K=64,N=96,T=32,R=4", "M=32,K=16,N=16,T=16,R=2"],
    },
    Derivation {
        script: "mm_desktop",
        program: "mm_at",
        entry: "mm_at",
        small: "M=8,K=4,N=16,LX=2,LY=1,TM=4,TN=8,TK=2",
        large: &[
            "M=256,K=32,N=256,LX=16,LY=16,TM=8,TN=8,TK=8",
            "M=64,K=16,N=64,LX=8,LY=4,TM=8,TN=4,TK=4",
        ],
    },
    Derivation {
        script: "mm_mali",
        program: "mm_bt",
        entry: "mm_bt",
        small: "M=4,K=8,N=6,TM=2,TN=3",
        large: &["M=34,K=24,N=20,TM=2,TN=2", "M=36,K=16,N=64,TM=4,TN=4"],
    },
    Derivation {
        script: "mm_split_k",
        program: "mm",
        entry: "mm",
        small: "M=3,K=8,N=5,P=2",
        large: &["M=33,K=64,N=35,P=4", "M=8,K=96,N=70,P=3"],
    },
    Derivation {
        script: "mm_padded",
        program: "mm",
        entry: "mm",
        small: "M=3,K=5,N=7,T=4",
        large: &["M=1023,K=1025,N=1027,T=16", "M=17,K=1,N=33,T=8"],
    },
    Derivation {
        script: "mm_cpu",
        program: "mm",
        entry: "mm",
        small: "M=4,K=6,N=32,BM=1,BN=2,TK=3,RM=2,RN=16",
        large: &[
            "M=64,K=64,N=128,BM=4,BN=2,TK=32,RM=8,RN=32",
            "M=12,K=20,N=96,BM=2,BN=2,TK=4,RM=3,RN=48",
        ],
    },
    Derivation {
        script: "mm_cpu_padded",
        program: "mm",
        entry: "mm",
        small: "M=3,K=5,N=18,BM=1,BN=1,TK=3,RM=2,RN=16",
        large: &[
            "M=61,K=67,N=131,BM=4,BN=2,TK=32,RM=8,RN=32",
            "M=1,K=1,N=1,BM=2,BN=2,TK=4,RM=3,RN=16",
        ],
    },
    Derivation {
        script: "pairwise_tiled",
        program: "extra/pairwise_distance",
        entry: "pairwise_distance",
        small: "M=4,N=6,D=2,T=2",
        large: &["M=64,N=32,D=48,T=16", "M=8,N=24,D=16,T=8"],
    },
    Derivation {
        script: "pairwise_packed",
        program: "extra/pairwise_distance",
        entry: "pairwise_distance",
        small: "M=4,N=32,D=6,BM=1,BN=2,TK=3,RM=2,RN=16",
        large: &["M=64,N=128,D=64,BM=4,BN=2,TK=32,RM=8,RN=32"],
    },
    Derivation {
        script: "batched_mm_tiled",
        program: "extra/batched_mm",
        entry: "batched_mm",
        small: "B=2,M=4,K=2,N=6,T=2",
        large: &["B=3,M=32,K=16,N=48,T=16", "B=5,M=8,K=24,N=16,T=8"],
    },
    Derivation {
        script: "nbody_local",
        program: "thesis/nbody",
        entry: "nbody",
        small: "N=6,T=2",
        large: &["N=256,T=64", "N=96,T=32"],
    },
    Derivation {
        script: "nbody_shared",
        program: "thesis/nbody",
        entry: "nbody",
        small: "N=8,T=2,P=2,S=2",
        large: &["N=256,T=64,P=4,S=32", "N=96,T=16,P=2,S=24"],
    },
    Derivation {
        script: "llp1",
        program: "reduce/sum",
        entry: "sum",
        small: "N=256",
        large: &["N=3072", "N=128"],
    },
    Derivation {
        script: "llp1",
        program: "reduce/dot",
        entry: "dot",
        small: "N=128",
        large: &["N=640"],
    },
    Derivation {
        script: "llp2",
        program: "reduce/sum",
        entry: "sum",
        small: "N=512",
        large: &["N=3072", "N=256"],
    },
    Derivation {
        script: "llp2",
        program: "reduce/asum",
        entry: "asum",
        small: "N=256",
        large: &["N=1280"],
    },
    Derivation {
        script: "llp2",
        program: "reduce/min",
        entry: "minimum",
        small: "N=256",
        large: &["N=768"],
    },
    Derivation {
        script: "llp3",
        program: "reduce/sum",
        entry: "sum",
        small: "N=512,E=2",
        large: &["N=10240,E=8", "N=768,E=3"],
    },
    Derivation {
        script: "llp3",
        program: "reduce/dot",
        entry: "dot",
        small: "N=256,E=2",
        large: &["N=1024,E=4"],
    },
    Derivation {
        script: "llp3",
        program: "reduce/argmin",
        entry: "argmin",
        small: "N=256,E=2",
        large: &["N=1024,E=4"],
    },
    Derivation {
        script: "transpose_tiled",
        program: "extra/transpose",
        entry: "transposed",
        small: "M=4,N=6,T=2",
        large: &["M=32,N=48,T=16", "M=40,N=24,T=8"],
    },
    Derivation {
        script: "stencil_local",
        program: "stencil/jacobi2d_5",
        entry: "jacobi2d_5",
        small: "N=4,M=6,T=2",
        large: &["N=48,M=32,T=16", "N=24,M=40,T=8"],
    },
    Derivation {
        script: "stencil_local",
        program: "stencil/gaussian_25",
        entry: "gaussian_25",
        small: "N=6,M=4,T=2",
        large: &["N=32,M=48,T=16"],
    },
    Derivation {
        script: "stencil_local_3d",
        program: "stencil/jacobi3d_7",
        entry: "jacobi3d_7",
        small: "D=4,N=2,M=6,TZ=2,TY=2,TX=3",
        large: &["D=8,N=12,M=32,TZ=4,TY=4,TX=16", "D=4,N=6,M=24,TZ=2,TY=3,TX=8"],
    },
    Derivation {
        script: "stencil_registers",
        program: "stencil/jacobi2d_5",
        entry: "jacobi2d_5",
        small: "N=4,M=6,TY=2,TX=3",
        large: &["N=18,M=100,TY=2,TX=4", "N=24,M=66,TY=4,TX=2"],
    },
    Derivation {
        script: "stencil_jammed",
        program: "stencil/jacobi2d_5",
        entry: "jacobi2d_5",
        small: "N=6,M=4,R=3",
        large: &["N=32,M=100,R=4", "N=24,M=66,R=2"],
    },
    Derivation {
        script: "stencil_march",
        program: "stencil/jacobi2d_5",
        entry: "jacobi2d_5",
        small: "N=6,M=4,S=3",
        large: &["N=32,M=100,S=16", "N=48,M=192,S=6"],
    },
    Derivation {
        script: "stencil_padded",
        program: "stencil/jacobi2d_5",
        entry: "jacobi2d_5",
        small: "N=5,M=7,T=4",
        large: &["N=50,M=37,T=16", "N=9,M=33,T=8"],
    },
    Derivation {
        script: "gemv_coalesced",
        program: "thesis/gemv",
        entry: "gemv",
        small: "M=2,N=256",
        large: &["M=7,N=640", "M=3,N=128"],
    },
    Derivation {
        script: "convolution_row_local",
        program: "thesis/convolution",
        entry: "convolution_row",
        small: "N=2,M=6,T=3",
        large: &["N=5,M=320,T=64", "N=3,M=96,T=32"],
    },
    Derivation {
        script: "flash_attention",
        program: "users/attention",
        entry: "attention",
        small: "H=2,N=4,D=3,T=2",
        large: &["H=2,N=128,D=16,T=32", "H=3,N=48,D=5,T=16"],
    },
];

/// A library strategy where it applies to a program; names of sizes that are new become parameters.
pub struct Use {
    pub program: &'static str,
    pub entry: &'static str,
    /// With `?` for the strategy.
    pub place: &'static str,
    pub strategies: &'static [&'static [&'static str]],
    pub sizes: &'static str,
}

/// For nests of two maps.
pub const NESTS: &[&str] = &[
    "interchange",
    "interchange_through",
    "tile(S, T)",
    "tile_padded(5, 7)",
    "block(S, T, U)",
    "coalesce(S)",
    "coarsen(S)",
];

/// For nests of two maps around a fold.
pub const MAPPINGS: &[&str] = &[
    "fused_fold >> global_1d >> sequential",
    "fused_fold >> global_2d >> sequential",
    "fused_fold >> split_join(S) >> groups_1d >> sequential",
    "fused_fold >> tile(S, T) >> groups_2d >> sequential",
];

pub const USES: &[Use] = &[
    Use {
        program: "mm",
        entry: "mm",
        place: "?",
        strategies: &[NESTS, MAPPINGS],
        sizes: "M=8,K=5,N=12,S=2,T=3,U=2",
    },
    Use {
        program: "extra/pairwise_distance",
        entry: "pairwise_distance",
        place: "?",
        strategies: &[NESTS, MAPPINGS],
        sizes: "M=12,N=8,D=3,S=3,T=2,U=2",
    },
    Use {
        program: "extra/batched_mm",
        entry: "batched_mm",
        place: "body(?)",
        strategies: &[NESTS],
        sizes: "B=3,M=8,K=5,N=12,S=4,T=3,U=2",
    },
    Use {
        program: "thesis/nbody",
        entry: "nbody",
        place: "map_fission_zip >> argument(argument(zip_first >> map_fission >> argument(?)))",
        strategies: &[NESTS],
        sizes: "N=24,S=2,T=3,U=4",
    },
];
