find_package(CUDAToolkit REQUIRED)
target_link_libraries(NAME PUBLIC CUDA::cuda_driver CUDA::nvrtc)
