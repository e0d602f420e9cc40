compile private.lift --target opencl --entry sums
