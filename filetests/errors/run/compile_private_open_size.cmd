compile private.lift --target opencl --entry open
