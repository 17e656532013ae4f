# Writes files as C arrays, for a program that carries them with it:
#
#   cmake -DOUTPUT=digits.c -DFILES="a.gz;b.gz" -P scripts/embed.cmake
#
# makes digits.c with the rows of demo_data (src/demo/demo.h), a file each; a
# name in the data folder loses its "digits-".
set(arrays "")
set(rows "")
set(count 0)
foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "^digits-" "" name ${name})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n    "
           bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays
           "static const uint8_t file_${count}[] = {\n    ${bytes}\n};\n\n")
    string(APPEND rows
           "    {\"${name}\", file_${count}, sizeof file_${count}},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made by scripts/embed.cmake from the data folder. */
#include \"demo/demo.h\"

${arrays}const struct demo_data demo_data[] = {
${rows}};

const size_t demo_data_count = sizeof demo_data / sizeof *demo_data;
")
