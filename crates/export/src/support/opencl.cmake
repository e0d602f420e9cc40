find_package(OpenCL REQUIRED)
target_link_libraries(NAME PUBLIC OpenCL::OpenCL)
