# Made by `lift export`: builds and installs the library NAME.
cmake_minimum_required(VERSION 3.13)
project(NAME VERSION 1.0.0 LANGUAGES C)
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(NAME NAME.c NAME.h)
set_target_properties(NAME PROPERTIES C_STANDARD 11 C_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON)
target_include_directories(NAME PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
