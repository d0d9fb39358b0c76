/* What the Matrix Market reader takes, warns of and refuses: each rule as a text and what must come of it, the same
   for every number of threads and size of blocks. */
#include "mtx_kit.h"
#include "../src/number.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define COO(kind) "%%MatrixMarket matrix coordinate " kind "\n"
#define ARR(kind) "%%MatrixMarket matrix array " kind "\n"
#define T(s) s, sizeof(s) - 1 /* a text that may hold NUL */

struct text {
    const char *name, *text;
    size_t n;
    const char *result; /* of show_load, in full */
};

static const struct text taken[] = {
    {"plain", T(COO("real general") "2 3 2\n1 1 0.5\n2 3 -1\n"), "2x3: 1 1 0.5; 2 3 -1"},
    {"tokens in any case", T("%%MatrixMarket MATRIX Coordinate REAL General\n1 1 1\n1 1 2\n"), "1x1: 1 1 2"},
    {"double", T(COO("double general") "1 1 1\n1 1 2\n"), "1x1: 1 1 2"},
    {"unsigned-integer", T(COO("unsigned-integer general") "1 1 1\n1 1 2\n"), "1x1: 1 1 2"},
    {"tabs and blanks", T(COO("real general") " \t 2\t2  2 \n\t1 \t 1   3\t\n  2 2\t4  \n"), "2x2: 1 1 3; 2 2 4"},
    {"CRLF", T("%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 1 3\r\n2 2 4\r\n"), "2x2: 1 1 3; 2 2 4"},
    {"lone CR", T("%%MatrixMarket matrix coordinate real general\r2 2 2\r1 1 3\r2 2 4\r"), "2x2: 1 1 3; 2 2 4"},
    {"mixed ends", T("%%MatrixMarket matrix coordinate real general\r\n%c\r2 2 2\n1 1 3\r2 2 4\r\n"),
     "2x2: 1 1 3; 2 2 4"},
    {"blank lines", T(COO("real general") "\n \n2 2 2\n\n\t\n1 1 3\n\n\n2 2 4\n\n"), "2x2: 1 1 3; 2 2 4"},
    {"comments before the size", T(COO("real general") "% a \x01\xff\0b\n%\n  %x\n1 1 1\n1 1 2\n"), "1x1: 1 1 2"},
    {"no final newline", T(COO("real general") "1 1 1\n1 1 2"), "1x1: 1 1 2"},
    {"pattern without final newline", T(COO("pattern general") "2 1 2\n1 1\n2 1"), "2x1: 1 1 1; 2 1 1"},
    {"leading zeros and plus", T(COO("real general") "+2 002 +01\n+01 0000000000000000000000002 +007\n"), "2x2: 1 2 7"},
    {"forms of numbers", T(COO("real general") "1 6 6\n1 1 .5\n1 2 5.\n1 3 1E+10\n1 4 -0\n1 5 5e-324\n1 6 1e-400\n"),
     "1x6: 1 1 0.5; 1 2 5; 1 3 1e+10; 1 4 -0; 1 5 5e-324; 1 6 0"},
    {"integer", T(COO("integer general") "1 2 2\n1 1 -3\n1 2 12345678901\n"), "1x2: 1 1 -3; 1 2 12345678901"},
    {"pattern", T(COO("pattern general") "2 2 2\n1 2\n2 1\n"), "2x2: 1 2 1; 2 1 1"},
    {"complex", T(COO("complex general") "1 2 2\n1 1 1 -2\n1 2 0 3\n"), "1x2: 1 1 1 -2; 1 2 0 3"},
    {"unsorted", T(COO("real general") "2 2 3\n2 2 3\n1 2 2\n1 1 1\n"), "2x2: 1 1 1; 1 2 2; 2 2 3"},
    {"explicit zeros", T(COO("real general") "1 2 2\n1 1 0\n1 2 -0.0\n"), "1x2: 1 1 0; 1 2 -0"},
    {"no rows", T(COO("real general") "0 5 0\n"), "0x5:"},
    {"no columns", T(COO("real general") "5 0 0\n"), "5x0:"},
    {"no entries", T(COO("real general") "2 2 0"), "2x2:"},
    {"no array", T(ARR("real general") "0 0\n"), "0x0:"},
    {"symmetric", T(COO("real symmetric") "2 2 2\n1 1 1\n2 1 5\n"), "2x2: 1 1 1; 1 2 5; 2 1 5"},
    {"symmetric pattern", T(COO("pattern symmetric") "2 2 1\n2 1\n"), "2x2: 1 2 1; 2 1 1"},
    {"complex symmetric", T(COO("complex symmetric") "2 2 2\n1 1 1 2\n2 1 5 6\n"), "2x2: 1 1 1 2; 1 2 5 6; 2 1 5 6"},
    {"skew", T(COO("real skew-symmetric") "2 2 1\n2 1 5\n"), "2x2: 1 2 -5; 2 1 5"},
    {"complex skew", T(COO("complex skew-symmetric") "2 2 1\n2 1 5 6\n"), "2x2: 1 2 -5 -6; 2 1 5 6"},
    {"hermitian", T(COO("complex hermitian") "2 2 2\n1 1 1 0\n2 1 5 6\n"), "2x2: 1 1 1 0; 1 2 5 -6; 2 1 5 6"},
    {"array", T(ARR("real general") "2 3\n1\n0\n3\n-0.0\n5\n6\n"), "2x3: 1 1 1; 1 2 3; 1 3 5; 2 3 6"},
    {"symmetric array", T(ARR("real symmetric") "3 3\n1\n2\n0\n4\n5\n6\n"),
     "3x3: 1 1 1; 1 2 2; 2 1 2; 2 2 4; 2 3 5; 3 2 5; 3 3 6"},
    {"skew array", T(ARR("integer skew-symmetric") "3 3\n1\n2\n3\n"),
     "3x3: 1 2 -1; 1 3 -2; 2 1 1; 2 3 -3; 3 1 2; 3 2 3"},
    {"hermitian array", T(ARR("complex hermitian") "2 2\n1 0\n2 3\n4 0\n"), "2x2: 1 1 1 0; 1 2 2 -3; 2 1 2 3; 2 2 4 0"},
    {"size at the limit", T(COO("pattern general") "1 2147483647 1\n1 2147483647\n"), "1x2147483647: 1 2147483647 1"},
};

static const struct text warned[] = {
    {"case", T("%%matrixmarket matrix coordinate real general\n1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: banner keyword not written as MatrixMarket, but in other case"},
    {"one percent", T("%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: banner begins with one percent sign instead of two"},
    {"BOM", T("\xef\xbb\xbf" COO("real general") "1 1 1\n1 1 2\n"), "1x1: 1 1 2 | line 1: byte order mark skipped"},
    {"leading blanks", T("\n  " COO("real general") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: blanks or blank lines before the banner skipped"},
    {"extra word", T(COO("real general by hand") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: words after the banner's fifth ignored"},
    {"vector array", T("%%MatrixMarket vector array real general\n2\n1\n2\n"),
     "2x1: 1 1 1; 2 1 2 | line 1: vector object read as a matrix of one column"},
    {"vector array, two sizes", T("%%MatrixMarket vector array real general\n2 1\n1\n2\n"),
     "2x1: 1 1 1; 2 1 2 | line 1: vector object read as a matrix of one column"},
    {"vector coordinate", T("%%MatrixMarket vector coordinate real general\n5 1\n3 7\n"),
     "5x1: 3 1 7 | line 1: vector object read as a matrix of one column"},
    {"vector coordinate, three sizes", T("%%MatrixMarket vector coordinate real general\n5 1 1\n3 1 7\n"),
     "5x1: 3 1 7 | line 1: vector object read as a matrix of one column"},
    {"comments among entries", T(COO("real general") "2 2 2\n1 1 3 % one\n% two\n2 2 4\n%three"),
     "2x2: 1 1 3; 2 2 4 | line 3: 3 comments after the size was read skipped"},
    {"comment on the size line", T(COO("real general") "1 1 1 % rows\n1 1 2\n"),
     "1x1: 1 1 2 | line 2: 1 comment after the size was read skipped"},
    {"Fortran", T(COO("real general") "1 4 4\n1 1 1.5D+03\n1 2 1.5+103\n1 3 -2d1\n1 4 +.5-100\n"),
     "1x4: 1 1 1500; 1 2 1.5e+103; 1 3 -20; 1 4 5e-101 | line 3: 4 Fortran exponents (1.5D+03, 1.5+103) read as e"},
    {"Fortran array", T(ARR("real general") "2 1\n1.5D+03\n2D0"),
     "2x1: 1 1 1500; 2 1 2 | line 3: 2 Fortran exponents (1.5D+03, 1.5+103) read as e"},
    {"inf and nan", T(COO("real general") "1 3 3\n1 1 inf\n1 2 -Infinity\n1 3 NaN\n"),
     "1x3: 1 1 inf; 1 2 -inf; 1 3 nan | line 3: 3 values are inf or nan"},
    {"overflow", T(COO("real general") "1 1 1\n1 1 1e999\n"),
     "1x1: 1 1 inf | line 3: 1 value beyond the largest double became inf"},
    {"Fortran overflow", T(COO("real general") "1 1 1\n1 1 -1D999\n"),
     "1x1: 1 1 -inf | line 3: 1 Fortran exponent (1.5D+03, 1.5+103) read as e"
     " | line 3: 1 value beyond the largest double became inf"},
    {"fractions", T(COO("integer general") "1 3 3\n1 1 2\n1 2 2.0\n1 3 2.5\n"),
     "1x3: 1 1 2; 1 2 2; 1 3 2.5 | line 5: 1 fraction in an integer file kept"},
    {"real hermitian", T(COO("real hermitian") "2 2 1\n2 1 5\n"),
     "2x2: 1 2 5; 2 1 5 | line 1: hermitian without imaginary parts read as symmetric"},
    {"integer hermitian", T(COO("integer hermitian") "2 2 1\n2 1 5\n"),
     "2x2: 1 2 5; 2 1 5 | line 1: hermitian without imaginary parts read as symmetric"},
    {"duplicates", T(COO("real general") "2 2 4\n1 1 1\n2 2 5\n1 1 -1\n2 2 1\n"),
     "2x2: 1 1 0; 2 2 6 | 2 duplicate entries summed"},
    {"symmetric duplicates", T(COO("real symmetric") "2 2 4\n2 1 1\n1 1 5\n2 1 2\n1 1 5\n"),
     "2x2: 1 1 10; 1 2 3; 2 1 3 | 2 duplicate entries summed"},
    {"upper triangle", T(COO("complex hermitian") "3 3 2\n1 2 1 2\n1 3 3 4\n"),
     "3x3: 1 2 1 2; 1 3 3 4; 2 1 1 -2; 3 1 3 -4 | line 3: 2 entries above the diagonal mirrored"},
    {"some of each triangle", T(COO("real symmetric") "3 3 2\n3 1 1\n1 2 2\n"),
     "3x3: 1 2 2; 1 3 1; 2 1 2; 3 1 1 | line 4: 1 entry above the diagonal mirrored"},
    {"skew zero", T(COO("real skew-symmetric") "2 2 2\n1 1 0\n2 1 5\n"),
     "2x2: 1 1 0; 1 2 -5; 2 1 5 | line 3: 1 zero on a skew-symmetric diagonal kept"},
    {"crowded", T(COO("real general") "1 1 2\n1 1 1\n1 1 2\n"),
     "1x1: 1 1 3 | line 2: more entries declared than the matrix has places, so some are duplicates | 1 duplicate "
     "entry summed"},
    {"DOS end of file", T(COO("real general") "1 1 1\n1 1 2\n\x1a"),
     "1x1: 1 1 2 | DOS end-of-file byte at the end skipped"},
    {"DOS end of file on the line", T(COO("real general") "1 1 1\n1 1 2\x1a"),
     "1x1: 1 1 2 | DOS end-of-file byte at the end skipped"},
};

/* Refused: result is "CODE LINE: ..." of which the text must hold what follows the first colon. */
static const struct {
    const char *name, *text;
    size_t n;
    enum code code;
    int line;
    const char *says;
} refused[] = {
    {"empty", T(""), E_INPUT, 1, "expected a %%MatrixMarket banner, found the end of the file; it is empty"},
    {"blank", T("\n\n \n"), E_INPUT, 3, "banner"},
    {"no banner", T("1 1 1\n1 1 2\n"), E_INPUT, 1, "found \"1 1 1\""},
    {"glued banner", T("%%MatrixMarketmatrix coordinate real general\n"), E_INPUT, 1,
     "expected a blank after %%MatrixMarket"},
    {"short banner", T("%%MatrixMarket matrix coordinate real\n1 1 0\n"), E_INPUT, 1, "four words"},
    {"unknown object", T("%%MatrixMarket tensor coordinate real general\n"), E_INPUT, 1,
     "object (matrix, vector), found \"tensor\""},
    {"unknown format", T("%%MatrixMarket matrix sparse real general\n"), E_INPUT, 1,
     "(coordinate, array), found \"sparse\""},
    {"unknown field", T(COO("quaternion general")), E_INPUT, 1, "found \"quaternion\""},
    {"unknown symmetry", T(COO("real diagonal")), E_INPUT, 1, "found \"diagonal\""},
    {"array pattern", T(ARR("pattern general") "1 1\n"), E_INPUT, 1, "array"},
    {"pattern skew", T(COO("pattern skew-symmetric") "1 1 0\n"), E_INPUT, 1, "found skew-symmetric"},
    {"pattern hermitian", T(COO("pattern hermitian") "1 1 0\n"), E_INPUT, 1, "found hermitian"},
    {"vector symmetric", T("%%MatrixMarket vector coordinate real symmetric\n1 0\n"), E_INPUT, 1, "vector"},
    {"HTML", T("<!DOCTYPE html>\n<html>\n"), E_INPUT, 1, "HTML"},
    {"git-LFS", T("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), E_INPUT, 1, "git-LFS"},
    {"Harwell-Boeing",
     T("1SYMMETRIC STIFFNESS MATRIX                                             BCSSTK01\n"
       "            74             4            14            56             0\n"
       "RSA                        48            48           224             0\n"),
     E_INPUT, 1, "Harwell-Boeing"},
    {"MATLAB", T("MATLAB 5.0 MAT-file, Platform: GLNXA64\n"), E_INPUT, 1, "MATLAB"},
    {"HDF5", T("\x89HDF\r\n\x1a\n"), E_INPUT, 1, "HDF5"},
    {"UTF-16", T("\xff\xfe%\0%\0M\0\n\0"), E_INPUT, 1, "UTF-16"},
    {"UTF-16 without mark", T("%\0%\0M\0\n\0"), E_INPUT, 1, "UTF-16"},
    {"ELF",
     T("\x7f"
       "ELF\x02\x01\x01\n"),
     E_INPUT, 1, "ELF"},
    {"no size", T(COO("real general") "% only this\n\n"), E_INPUT, 3, "expected a size line"},
    {"size not integer", T(COO("real general") "2.0 2 1\n1 1 1\n"), E_INPUT, 2, "number of rows"},
    {"size negative", T(COO("real general") "2 -2 1\n1 1 1\n"), E_INPUT, 2,
     "columns on the size line, found a negative number: \"-2\""},
    {"size short", T(COO("real general") "2 2\n1 1 1\n"), E_INPUT, 2, "expected 3 numbers on the size line"},
    {"size long", T(ARR("real general") "2 2 4\n1\n"), E_INPUT, 2,
     "expected 2 numbers on the size line (rows columns), found 3"},
    {"size glued", T(COO("real general") "2 2 1x\n1 1 1\n"), E_INPUT, 2, "\"1x\""},
    {"beyond 64 bits", T(COO("real general") "99999999999999999999 2 1\n1 1 1\n"), E_LIMIT, 2, "beyond 64 bits"},
    {"10^18", T(COO("real general") "1000000000000000000 1000000000000000000 1\n1 1 1\n"), E_LIMIT, 2,
     "1000000000000000000"},
    {"2^31 rows", T(COO("real general") "2147483648 1 1\n1 1 1\n"), E_LIMIT, 2, "2147483648"},
    {"2^31 entries", T(COO("real general") "1 1 2147483648\n1 1 1\n"), E_LIMIT, 2, "2147483648"},
    {"2^32 array", T(ARR("real general") "65536 65536\n1\n"), E_LIMIT, 2, "4294967296"},
    {"too short to hold", T(COO("real general") "9 9 1000000000\n1 1 1\n"), E_INPUT, 2, "room for 1 at most"},
    {"array too short to hold", T(ARR("real general") "9999 9999\n1\n"), E_INPUT, 2, "expected 99980001 entries"},
    {"fewer", T(COO("real general") "% c\n3 3 3\n1 1 1.25\n2 2 1.25\n"), E_INPUT, 3,
     "expected 3 entries as this size line says, found 2"},
    {"fewer values", T(ARR("real general") "2 2\n1.5\n2.5\n3.5\n"), E_INPUT, 2, "found 3"},
    {"more", T(COO("real general") "3 3 2\n\n1 1 1\n%\n2 2 1\n\n%\n3 3 1\n1 2 1\n"), E_INPUT, 9,
     "no more than 2 entries as the size line 2"},
    {"more values", T(ARR("real general") "1 1\n1\n2\n"), E_INPUT, 4, "no more than 1"},
    {"values in an empty array", T(ARR("real general") "0 7\n1\n"), E_INPUT, 3, "no more than 0"},
    {"row 0", T(COO("real general") "2 2 1\n0 1 1\n"), E_INPUT, 3, "0-based"},
    {"column 0", T(COO("real general") "2 2 1\n1 0 1\n"), E_INPUT, 3, "expected a column index from 1 to 2, found 0"},
    {"negative", T(COO("real general") "2 2 1\n-1 1 1\n"), E_INPUT, 3, "found -1"},
    {"above", T(COO("real general") "2 2 1\n1 3 1\n"), E_INPUT, 3, "from 1 to 2, found 3"},
    {"wraps", T(COO("real general") "2 2 1\n4294967297 1 1\n"), E_INPUT, 3, "found 4294967297"},
    {"index overflow", T(COO("real general") "2 2 1\n1 99999999999999999999999 1\n"), E_LIMIT, 3, "beyond 64 bits"},
    {"index not integer", T(COO("real general") "2 2 1\n1.0 1 1\n"), E_INPUT, 3, "not an integer: \"1.0\""},
    {"index glued", T(COO("real general") "2 2 1\n1a 1 1\n"), E_INPUT, 3, "\"1a\""},
    {"index missing", T(COO("real general") "2 2 1\n1\n        "), E_INPUT, 3,
     "column index, found the end of the line"},
    {"value missing", T(COO("real general") "2 2 1\n1 2\n        "), E_INPUT, 3, "found the end of the line"},
    {"imaginary missing", T(COO("complex general") "2 2 1\n1 2 3\n      "), E_INPUT, 3, "a real and an imaginary"},
    {"hex", T(COO("real general") "2 2 1\n1 2 0x1p3\n"), E_INPUT, 3, "\"0x1p3\""},
    {"underscore", T(COO("real general") "2 2 1\n1 2 1_000\n"), E_INPUT, 3, "\"1_000\""},
    {"bare e", T(COO("real general") "2 2 1\n1 2 1e\n"), E_INPUT, 3, "\"1e\""},
    {"bare d", T(COO("real general") "2 2 1\n1 2 1d\n"), E_INPUT, 3, "\"1d\""},
    {"short exponent without letter", T(COO("real general") "2 2 1\n1 2 1-2\n"), E_INPUT, 3, "\"1-2\""},
    {"two signs", T(COO("real general") "2 2 1\n1 2 --1\n"), E_INPUT, 3, "\"--1\""},
    {"plus minus", T(COO("real general") "2 2 1\n1 2 +-1\n"), E_INPUT, 3, "\"+-1\""},
    {"two plus", T(COO("real general") "2 2 1\n1 2 ++1\n"), E_INPUT, 3, "\"++1\""},
    {"NA", T(COO("real general") "2 2 1\n1 2 NA\n"), E_INPUT, 3, "\"NA\""},
    {"comma", T(COO("real general") "2 2 1\n1 2 1,5\n"), E_INPUT, 3, "\"1,5\""},
    {"point", T(COO("real general") "2 2 1\n1 2 .\n"), E_INPUT, 3, "\".\""},
    {"infinitive", T(COO("real general") "2 2 1\n1 2 infinitive\n"), E_INPUT, 3, "\"infinitive\""},
    {"extra column", T(COO("real general") "2 2 1\n1 2 3 4\n"), E_INPUT, 3, "complex"},
    {"extra column in pattern", T(COO("pattern general") "2 2 1\n1 2 3\n"), E_INPUT, 3, "real or integer"},
    {"two values in an array", T(ARR("real general") "2 1\n1 2\n3\n"), E_INPUT, 3,
     "expected the line to end after 1 number"},
    {"NUL", T(COO("real general") "2 2 1\n1 2 3\0\n"), E_INPUT, 3, "\"3\\x00\""},
    {"NUL line", T(COO("real general") "2 2 1\n\0\0\0\0\0\n1 2 3\n"), E_INPUT, 3, "\\x00"},
    {"control byte", T(COO("real general") "2 2 1\n1 2 3\n\x1b[2J\n"), E_INPUT, 4, "\\x1b[2J"},
    {"vertical tab", T(COO("real general") "2 2 1\n1 2\v3\n  \n"), E_INPUT, 3, "\\x0b"},
    {"DOS byte inside", T(COO("real general") "2 2 2\n1 2 3\n\x1a\n2 2 2\n"), E_INPUT, 4, "\\x1a"},
    {"not square", T(COO("real symmetric") "2 3 1\n2 1 1\n"), E_INPUT, 2, "symmetric matrix to be square, found 2 x 3"},
    {"both triangles", T(COO("real symmetric") "3 3 4\n3 1 1\n2 1 1\n%\n1 2 1\n1 3 2\n"), E_INPUT, 6, "mirror image"},
    {"both triangles, twice", T(COO("real symmetric") "3 3 4\n2 1 1\n3 1 1\n1 2 1\n1 3 2\n"), E_INPUT, 5,
     "mirror image"},
    {"both triangles, upper first", T(COO("real symmetric") "3 3 3\n1 3 1\n3 3 1\n3 1 1\n"), E_INPUT, 5,
     "mirror image"},
    {"skew diagonal", T(COO("real skew-symmetric") "2 2 1\n1 1 3\n"), E_INPUT, 3, "diagonal"},
    {"skew nan diagonal", T(COO("real skew-symmetric") "2 2 1\n1 1 nan\n"), E_INPUT, 3, "diagonal"},
    {"hermitian diagonal", T(COO("complex hermitian") "2 2 2\n2 1 1 1\n2 2 3 1\n"), E_INPUT, 4, "imaginary part"},
    {"hermitian array diagonal", T(ARR("complex hermitian") "2 2\n1 0\n\n2 3\n4 5\n"), E_INPUT, 6, "imaginary part"},
    {"earlier of two faults", T(COO("real general") "2 2 3\n1 1 1\n1 2 x\n1 3 1\n"), E_INPUT, 4, "\"x\""},
    {"surplus before a fault", T(COO("real general") "2 2 1\n1 1 1\n1 2 1\n1 3 x\n"), E_INPUT, 4, "no more than 1"},
    {"contradiction before a fault", T(COO("real symmetric") "2 2 3\n2 1 1\n1 2 1\n1 3 x\n"), E_INPUT, 4,
     "mirror image"},
    {"CR lines", T("%%MatrixMarket matrix coordinate real general\r%\r\r2 2 2\r1 1 1\r1 9 1\r"), E_INPUT, 6, "found 9"},
    {"CRLF lines", T("%%MatrixMarket matrix coordinate real general\r\n%\r\n\r\n2 2 2\r\n1 1 1\r\n1 9 1\r\n"), E_INPUT,
     6, "found 9"},
    {"BOM line", T("\xef\xbb\xbf" COO("real general") "2 2 1\n1 9 1\n"), E_INPUT, 3, "found 9"},
    {"long quote",
     T(COO("real general") "2 2 1\n1 1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
     E_INPUT, 3, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\""},
};

static const int thread_counts[] = {1, 2, 7};
static const int64_t block_sizes[] = {16, 61, 0};

/* Load with every number of threads and block size; all must come to the same, which is put into `out`. */
static void load_all_ways(const char *name, const char *path, char *out, size_t size)
{
    char other[4096];
    mtx_hooks(0, 1);
    show_load(path, out, size);
    for (int t = 0; t < COUNT(thread_counts); t++)
        for (int b = 0; b < COUNT(block_sizes); b++) {
            mtx_hooks(block_sizes[b], thread_counts[t]);
            show_load(path, other, sizeof other);
            if (strcmp(out, other))
                fail_msg("%s: one thread says \"%s\", %d with blocks of %d \"%s\"", name, out, thread_counts[t],
                         (int)block_sizes[b], other);
        }
    mtx_hooks(0, 0);
}

static void check_texts(const struct text *t, int n)
{
    char out[4096];
    for (int i = 0; i < n; i++) {
        load_all_ways(t[i].name, write_file("case.mtx", t[i].text, t[i].n), out, sizeof out);
        if (strcmp(out, t[i].result)) fail_msg("%s: expected \"%s\", got \"%s\"", t[i].name, t[i].result, out);
    }
}

static void certain_meaning_is_taken_silently(void **state)
{
    (void)state;
    check_texts(taken, COUNT(taken));
}

static void liberties_are_taken_with_a_warning(void **state)
{
    (void)state;
    check_texts(warned, COUNT(warned));
}

static void the_rest_is_refused_by_line(void **state)
{
    char out[4096], start[32];
    (void)state;
    for (int i = 0; i < COUNT(refused); i++) {
        load_all_ways(refused[i].name, write_file("case.mtx", refused[i].text, refused[i].n), out, sizeof out);
        snprintf(start, sizeof start, "%d %d: ", (int)refused[i].code, refused[i].line);
        if (strncmp(out, start, strlen(start)) || !strstr(out, refused[i].says))
            fail_msg("%s: expected \"%s...%s\", got \"%s\"", refused[i].name, start, refused[i].says, out);
    }
}

static const char *write_long(const char *head, char fill, size_t n, const char *tail)
{
    size_t a = strlen(head), b = strlen(tail);
    char *text = mem_new((int64_t)(a + n + b), 1, "text", NULL);
    memcpy(text, head, a);
    memset(text + a, fill, n);
    memcpy(text + a + n, tail, b);
    const char *path = write_file("long.mtx", text, a + n + b);
    mem_free(text);
    return path;
}

static void long_lines_cost_little(void **state)
{
    static const struct {
        const char *head, *tail, *starts;
        char fill;
    } table[] = {
        {COO("real general") "%", "\n1 1 1\n1 1 2\n", "1x1: 1 1 2", 'x'},
        {COO("real general") "%", "\r\n1 1 1\r\n1 1 x\r\n", "2 4: ", 'x'},
        {COO("real general") "1 1 1\n1 1 0.", "\n", "1x1: 1 1 0.3333333333333333", '3'},
        {COO("real general") "1 1 1\n1 1 ", "\n", "2 3: ", 'x'},
        {COO("real general") "1 1 1\n1 1 ", "2\n", "1x1: 1 1 2", ' '},
    };
    char out[4096];
    (void)state;
    for (int i = 0; i < COUNT(table); i++)
        for (int b = 1; b < COUNT(block_sizes); b++) {
            mtx_hooks(block_sizes[b], 2);
            show_load(write_long(table[i].head, table[i].fill, block_sizes[b] ? 1 << 20 : 10 << 20, table[i].tail), out,
                      sizeof out);
            if (strncmp(out, table[i].starts, strlen(table[i].starts)) || strlen(out) > 200)
                fail_msg("%d: expected \"%s\", got \"%s\"", i, table[i].starts, out);
        }
    mtx_hooks(0, 0);
}

/* 20,000 entries; two of them damaged where told, 0 = none. */
static const char *write_many(int first, int second, const char *eol)
{
    enum { LINES = 20000, ROOM = LINES * 25 };
    char *text = mem_new(ROOM, 1, "text", NULL);
    int at = snprintf(text, ROOM, "%s%d 1 %d\n", COO("real general"), LINES, LINES);
    for (int i = 1; i <= LINES; i++)
        at += snprintf(text + at, (size_t)(ROOM - at), "%d 1 %s%d%s", i, i == first || i == second ? "?" : "", i, eol);
    const char *path = write_file("many.mtx", text, (size_t)at);
    mem_free(text);
    return path;
}

static void the_earliest_fault_wins(void **state)
{
    static const int faults[][2] = {{15000, 9001}, {9001, 9002}, {1, 20000}, {19999, 20000}};
    static const char *const eols[] = {"\n", "\r\n", "\r", "\r\n"};
    char out[4096], start[32];
    (void)state;
    for (int i = 0; i < COUNT(faults); i++) {
        int first = faults[i][0] < faults[i][1] ? faults[i][0] : faults[i][1];
        load_all_ways("many", write_many(faults[i][0], faults[i][1], eols[i]), out, sizeof out);
        snprintf(start, sizeof start, "2 %d: ", first + 2);
        if (strncmp(out, start, strlen(start))) fail_msg("expected line %d, got \"%s\"", first + 2, out);
    }
}

static void order_does_not_depend_on_threads(void **state)
{
    struct csr A, B;
    struct err e = {0};
    const char *path = write_many(0, 0, "\n");
    (void)state;
    mtx_hooks(0, 1);
    assert_true(mtx_load(path, NULL, &A, NULL, &e));
    for (int t = 0; t < COUNT(thread_counts); t++) {
        mtx_hooks(61, thread_counts[t]);
        assert_true(mtx_load(path, NULL, &B, NULL, &e));
        assert_true(csr_equal(&A, &B));
        csr_free(&B);
    }
    mtx_hooks(0, 0);
    csr_free(&A);
}

static void numbers_are_rounded_as_strtod_rounds(void **state)
{
    static const char *const hard[] = {
        "9007199254740993",
        "9007199254740993.0000000000000000000000000001",
        "2.2250738585072011e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "0.1",
        "123456789012345678901234567890e-10",
        "8.5e-17",
        "6.02214076e23",
        "1.00000000000000011102230246251565404236316680908203125",
    };
    (void)state;
    for (int i = 0; i < COUNT(hard); i++) {
        double v;
        unsigned how;
        const char *end = hard[i] + strlen(hard[i]);
        assert_ptr_equal(number_parse(hard[i], end, &v, &how), end);
        if (v != strtod(hard[i], NULL)) fail_msg("%s became %a", hard[i], v);
    }
}

static void a_locale_with_commas_changes_nothing(void **state)
{
    char out[4096];
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("skip: no locale de_DE.UTF-8\n");
        return;
    }
    show_load(write_file("case.mtx", taken[0].text, taken[0].n), out, sizeof out);
    setlocale(LC_ALL, "C");
    assert_string_equal(out, taken[0].result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_meaning_is_taken_silently),
        cmocka_unit_test(liberties_are_taken_with_a_warning),
        cmocka_unit_test(the_rest_is_refused_by_line),
        cmocka_unit_test(long_lines_cost_little),
        cmocka_unit_test(the_earliest_fault_wins),
        cmocka_unit_test(order_does_not_depend_on_threads),
        cmocka_unit_test(numbers_are_rounded_as_strtod_rounds),
        cmocka_unit_test(a_locale_with_commas_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, tidy);
}
