test programs.lift --device opencl:0
