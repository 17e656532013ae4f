# Writes files as C arrays, for a program that carries them with it:
#
#   cmake -DARRAY=demo_data -DFILES="a.gz;b.gz" -P scripts/embed.cmake
#
# makes demo_data.c with the array demo_data of struct embedded
# (src/host/embedded.h), a row a file; a name in the data folder loses its
# "digits-", "demo-" or "peer-". A NUL, which does not count, makes a text a C string.
set(arrays "")
set(rows "")
set(count 0)
foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "^(digits|demo|peer)-" "" name ${name})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n    "
           bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays
           "static const uint8_t file_${count}[] = {\n    ${bytes}0x00\n};\n\n")
    string(APPEND rows
           "    {\"${name}\", file_${count}, sizeof file_${count} - 1},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${ARRAY}.c "/* Made by scripts/embed.cmake from the data folder. */
#include \"host/embedded.h\"

${arrays}const struct embedded ${ARRAY}[] = {
${rows}};

const size_t ${ARRAY}_count = sizeof ${ARRAY} / sizeof *${ARRAY};
")
