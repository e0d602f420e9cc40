compile private.lift --target opencl --entry reversed
