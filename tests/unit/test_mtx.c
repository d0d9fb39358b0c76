/* The rules of the Matrix Market reader: what it accepts, warns about and refuses. Each case is a text and its result,
   which must be equal for every number of threads and block size. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "kits/mtx_kit.h"
#include "kits/slow_mtx.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define COO(kind) "%%MatrixMarket matrix coordinate " kind "\n"
#define ARR(kind) "%%MatrixMarket matrix array " kind "\n"
#define T(s) s, sizeof(s) - 1 /* a text that may contain NUL bytes */

struct text {
    const char *name, *text;
    size_t n;
    const char *result; /* the full text that show_load writes */
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
    {"forms of numbers", T(COO("real general") "1 6 6\n1 1 .5\n1 2 5.\n1 3 1E+10\n1 4 -0\n1 5 5e-324\n1 6 0.0e5\n"),
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
    {"zeros of all kinds counted as lines", T(COO("real general") "% a\r\n\r%b\n1 2 00\n"), "1x2:"},
    {"no columns in an array", T(ARR("complex general") "3 0\n\n"), "3x0:"},
    {"complex array", T(ARR("complex general") "2 1\n0 -0\n0 2\n"), "2x1: 2 1 0 2"},
    {"complex skew array", T(ARR("complex skew-symmetric") "2 2\n1 2\n"), "2x2: 1 2 -1 -2; 2 1 1 2"},
    {"complex symmetric array", T(ARR("complex symmetric") "2 2\n1 2\n3 4\n0 0\n"), "2x2: 1 1 1 2; 1 2 3 4; 2 1 3 4"},
    {"skew array of one", T(ARR("real skew-symmetric") "1 1\n"), "1x1:"},
    {"skew array of none", T(ARR("real skew-symmetric") "0 0\n"), "0x0:"},
    {"a zero of a symmetric file", T(COO("real symmetric") "2 2 1\n2 1 0\n"), "2x2: 1 2 0; 2 1 0"},
    {"decimals that are hard to round",
     T(COO(
         "real general") "1 7 7\n1 1 9007199254740993\n1 2 9007199254740993.0000000000000000000000000000000000000001\n"
                         "1 3 2.2250738585072011e-308\n1 4 2.4703282292062327209e-324\n1 5 2.4703282292062328e-324\n"
                         "1 6 1.7976931348623157e308\n1 7 1.00000000000000011102230246251565404236316680908203125\n"),
     "1x7: 1 1 9007199254740992; 1 2 9007199254740994; 1 3 2.225073858507201e-308; 1 4 5e-324; 1 5 5e-324; "
     "1 6 1.7976931348623157e+308; 1 7 1"},
    {"comment on the banner", T(COO("real general % by hand") "1 1 0\n"), "1x1:"},
    {"size at the limit", T(COO("pattern general") "1 2147483647 1\n1 2147483647\n"), "1x2147483647: 1 2147483647 1"},
};

static const struct text warned[] = {
    {"case", T("%%matrixmarket matrix coordinate real general\n1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: banner keyword MatrixMarket is written in a different case"},
    {"one percent", T("%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: banner begins with one percent sign instead of two"},
    {"BOM", T("\xef\xbb\xbf" COO("real general") "1 1 1\n1 1 2\n"), "1x1: 1 1 2 | line 1: byte order mark was skipped"},
    {"blank first line", T(" \t\r\n" COO("real general") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: blanks or blank lines before the banner were skipped"},
    {"blanks before the banner", T("\t " COO("real general") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: blanks or blank lines before the banner were skipped"},
    {"BOM and blanks", T("\xef\xbb\xbf " COO("real general") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: byte order mark was skipped | line 1: blanks or blank lines before the banner were skipped"},
    {"leading blanks", T("\n  " COO("real general") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: blanks or blank lines before the banner were skipped"},
    {"extra word", T(COO("real general by hand") "1 1 1\n1 1 2\n"),
     "1x1: 1 1 2 | line 1: words after the fifth word of the banner were ignored"},
    {"vector array", T("%%MatrixMarket vector array real general\n2\n1\n2\n"),
     "2x1: 1 1 1; 2 1 2 | line 1: vector object was read as a matrix of one column"},
    {"vector array, two sizes", T("%%MatrixMarket vector array real general\n2 1\n1\n2\n"),
     "2x1: 1 1 1; 2 1 2 | line 1: vector object was read as a matrix of one column"},
    {"vector coordinate", T("%%MatrixMarket vector coordinate real general\n5 1\n3 7\n"),
     "5x1: 3 1 7 | line 1: vector object was read as a matrix of one column"},
    {"vector coordinate, three sizes", T("%%MatrixMarket vector coordinate real general\n5 1 1\n3 1 7\n"),
     "5x1: 3 1 7 | line 1: vector object was read as a matrix of one column"},
    {"comments among entries", T(COO("real general") "2 2 2\n1 1 3 % one\n% two\n2 2 4\n%three"),
     "2x2: 1 1 3; 2 2 4 | line 3: 3 comments after the size line were skipped"},
    {"comment on the size line", T(COO("real general") "1 1 1 % rows\n1 1 2\n"),
     "1x1: 1 1 2 | line 2: 1 comment after the size line was skipped"},
    {"underflow",
     T(COO("real general") "1 6 6\n1 1 1e-400\n1 2 -0.001e-399\n1 3 2.4703282292062327208e-324\n1 4 0e-400\n"
                           "1 5 -0.00\n1 6 1.5D-999\n"),
     "1x6: 1 1 0; 1 2 -0; 1 3 0; 1 4 0; 1 5 -0; 1 6 0 | line 8: 1 Fortran exponent (1.5D+03, 1.5+103) was read as e | "
     "line 3: 4 nonzero values below the smallest double became 0"},
    {"a complex value that underflows", T(COO("complex general") "1 1 1\n1 1 1 1e-999\n"),
     "1x1: 1 1 1 0 | line 3: 1 nonzero value below the smallest double became 0"},
    {"large integers",
     T(COO("integer general") "1 6 6\n1 1 9007199254740993\n1 2 9007199254740992\n1 3 -0009007199254740993\n"
                              "1 4 +36028797018963968\n1 5 1180591620717411303424\n1 6 1180591620717411303425\n"),
     "1x6: 1 1 9007199254740992; 1 2 9007199254740992; 1 3 -9007199254740992; 1 4 36028797018963968; "
     "1 5 1180591620717411303424; 1 6 1180591620717411303424 | line 3: 3 integers beyond 2^53 were rounded"},
    {"Fortran", T(COO("real general") "1 4 4\n1 1 1.5D+03\n1 2 1.5+103\n1 3 -2d1\n1 4 +.5-100\n"),
     "1x4: 1 1 1500; 1 2 1.5e+103; 1 3 -20; 1 4 5e-101 | line 3: 4 Fortran exponents (1.5D+03, 1.5+103) were read as "
     "e"},
    {"Fortran without letter and zeros", T(COO("real general") "1 4 4\n1 1 1.5+2\n1 2 -15.-1\n1 3 .5+03\n1 4 1.-0\n"),
     "1x4: 1 1 150; 1 2 -1.5; 1 3 500; 1 4 1 | line 3: 4 Fortran exponents (1.5D+03, 1.5+103) were read as e"},
    {"Fortran array", T(ARR("real general") "2 1\n1.5D+03\n2D0"),
     "2x1: 1 1 1500; 2 1 2 | line 3: 2 Fortran exponents (1.5D+03, 1.5+103) were read as e"},
    {"inf and nan", T(COO("real general") "1 3 3\n1 1 inf\n1 2 -Infinity\n1 3 NaN\n"),
     "1x3: 1 1 inf; 1 2 -inf; 1 3 nan | line 3: 3 values are inf or nan"},
    {"signed inf and nan", T(COO("real general") "1 4 4\n1 1 +INF\n1 2 +nan\n1 3 -INFINITY\n1 4 nan(7)\n"),
     "1x4: 1 1 inf; 1 2 nan; 1 3 -inf; 1 4 nan | line 3: 4 values are inf or nan"},
    {"overflow", T(COO("real general") "1 1 1\n1 1 1e999\n"),
     "1x1: 1 1 inf | line 3: 1 value beyond the largest double became inf"},
    {"Fortran overflow", T(COO("real general") "1 1 1\n1 1 -1D999\n"),
     "1x1: 1 1 -inf | line 3: 1 Fortran exponent (1.5D+03, 1.5+103) was read as e"
     " | line 3: 1 value beyond the largest double became inf"},
    {"fractions", T(COO("integer general") "1 3 3\n1 1 2\n1 2 2.0\n1 3 2.5\n"),
     "1x3: 1 1 2; 1 2 2; 1 3 2.5 | line 5: 1 fraction was kept in an integer file"
     " | line 4: 1 integer is written as a real number (3.0) in an integer file"},
    {"integers as reals", T(COO("integer general") "1 5 5\n1 1 3.0\n1 2 -1e3\n1 3 4.\n1 4 +5\n1 5 inf\n"),
     "1x5: 1 1 3; 1 2 -1000; 1 3 4; 1 4 5; 1 5 inf | line 7: 1 value is inf or nan"
     " | line 3: 3 integers are written as real numbers (3.0) in an integer file"},
    {"negative numbers in an unsigned file",
     T(COO("unsigned-integer general") "1 4 4\n1 1 2\n1 2 -5\n1 3 -0\n1 4 -2.5\n"),
     "1x4: 1 1 2; 1 2 -5; 1 3 -0; 1 4 -2.5 | line 6: 1 fraction was kept in an integer file"
     " | line 4: 2 negative numbers were kept in an unsigned-integer file"},
    {"real hermitian", T(COO("real hermitian") "2 2 1\n2 1 5\n"),
     "2x2: 1 2 5; 2 1 5 | line 1: hermitian file without imaginary parts was read as symmetric"},
    {"integer hermitian", T(COO("integer hermitian") "2 2 1\n2 1 5\n"),
     "2x2: 1 2 5; 2 1 5 | line 1: hermitian file without imaginary parts was read as symmetric"},
    {"duplicates", T(COO("real general") "2 2 4\n1 1 1\n2 2 5\n1 1 -1\n2 2 1\n"),
     "2x2: 1 1 0; 2 2 6 | 2 duplicate entries were summed"},
    {"symmetric duplicates", T(COO("real symmetric") "2 2 4\n2 1 1\n1 1 5\n2 1 2\n1 1 5\n"),
     "2x2: 1 1 10; 1 2 3; 2 1 3 | 2 duplicate entries were summed"},
    {"skew duplicates", T(COO("real skew-symmetric") "2 2 2\n2 1 1\n2 1 -1\n"),
     "2x2: 1 2 0; 2 1 0 | 1 duplicate entry was summed"},
    {"hermitian duplicates", T(COO("complex hermitian") "2 2 4\n2 1 1 2\n1 1 5 0\n2 1 3 -4\n1 1 1 -0\n"),
     "2x2: 1 1 6 0; 1 2 4 2; 2 1 4 -2 | 2 duplicate entries were summed"},
    {"upper duplicates", T(COO("pattern symmetric") "2 2 2\n1 2\n1 2\n"),
     "2x2: 1 2 2; 2 1 2 | line 3: 2 entries above the diagonal were mirrored | 1 duplicate entry was summed"},
    {"upper triangle of a skew file", T(COO("real skew-symmetric") "2 2 1\n1 2 5\n"),
     "2x2: 1 2 5; 2 1 -5 | line 3: 1 entry above the diagonal was mirrored"},
    {"upper triangle", T(COO("complex hermitian") "3 3 2\n1 2 1 2\n1 3 3 4\n"),
     "3x3: 1 2 1 2; 1 3 3 4; 2 1 1 -2; 3 1 3 -4 | line 3: 2 entries above the diagonal were mirrored"},
    {"some of each triangle", T(COO("real symmetric") "3 3 2\n3 1 1\n1 2 2\n"),
     "3x3: 1 2 2; 1 3 1; 2 1 2; 3 1 1 | line 4: 1 entry above the diagonal was mirrored"},
    {"skew zero", T(COO("real skew-symmetric") "2 2 2\n1 1 0\n2 1 5\n"),
     "2x2: 1 1 0; 1 2 -5; 2 1 5 | line 3: 1 zero was kept on a skew-symmetric diagonal"},
    {"crowded", T(COO("real general") "1 1 2\n1 1 1\n1 1 2\n"),
     "1x1: 1 1 3 | line 2: more entries are declared than the matrix has positions, so some are duplicates | 1 "
     "duplicate entry was summed"},
    {"DOS end of file", T(COO("real general") "1 1 1\n1 1 2\n\x1a"),
     "1x1: 1 1 2 | DOS end-of-file byte at the end was skipped"},
    {"DOS ends of file", T(ARR("real general") "1 1\n2\r\n\x1a\x1a\x1a"),
     "1x1: 1 1 2 | DOS end-of-file byte at the end was skipped"},
    {"DOS end of file on the line", T(COO("real general") "1 1 1\n1 1 2\x1a"),
     "1x1: 1 1 2 | DOS end-of-file byte at the end was skipped"},
};

/* Refused texts: the code and the line of the error, and a part of its message. */
static const struct {
    const char *name, *text;
    size_t n;
    enum code code;
    int line;
    const char *says;
} refused[] = {
    {"empty", T(""), E_INPUT, 1, "no banner: the file is empty"},
    {"blank", T("\n\n \n"), E_INPUT, 3, "banner"},
    {"no banner", T("1 1 1\n1 1 2\n"), E_INPUT, 1, "not with \"1 1 1\""},
    {"glued banner", T("%%MatrixMarketmatrix coordinate real general\n"), E_INPUT, 1, "no blank after %%MatrixMarket"},
    {"short banner", T("%%MatrixMarket matrix coordinate real\n1 1 0\n"), E_INPUT, 1, "four words"},
    {"three percent signs", T("%" COO("real general") "1 1 0\n"), E_INPUT, 1, "no banner"},
    {"no percent sign", T("MatrixMarket matrix coordinate real general\n1 1 0\n"), E_INPUT, 1, "no banner"},
    {"glued words", T("%%MatrixMarket matrixcoordinate real general\n"), E_INPUT, 1, "four words"},
    {"glued words before a fifth", T("%%MatrixMarket matrixcoordinate real general by\n"), E_INPUT, 1,
     "unknown object \"matrixcoordinate\""},
    {"words behind a comment", T("%%MatrixMarket matrix % coordinate real general\n"), E_INPUT, 1,
     "has 1 of the four words"},
    {"banner on the second line behind a comment", T("% x\n" COO("real general") "1 1 0\n"), E_INPUT, 1, "no banner"},
    {"control byte in the banner", T(COO("real general\1") "1 1 0\n"), E_INPUT, 1, "unknown symmetry \"general\\x01\""},
    {"unknown object", T("%%MatrixMarket tensor coordinate real general\n"), E_INPUT, 1,
     "unknown object \"tensor\" in the banner; it must be one of matrix, vector"},
    {"unknown format", T("%%MatrixMarket matrix sparse real general\n"), E_INPUT, 1,
     "unknown format \"sparse\" in the banner; it must be one of coordinate, array"},
    {"unknown field", T(COO("quaternion general")), E_INPUT, 1, "unknown field \"quaternion\""},
    {"unknown symmetry", T(COO("real diagonal")), E_INPUT, 1, "unknown symmetry \"diagonal\""},
    {"array pattern", T(ARR("pattern general") "1 1\n"), E_INPUT, 1, "array"},
    {"pattern skew", T(COO("pattern skew-symmetric") "1 1 0\n"), E_INPUT, 1, "cannot be skew-symmetric"},
    {"pattern hermitian", T(COO("pattern hermitian") "1 1 0\n"), E_INPUT, 1, "cannot be hermitian"},
    {"vector symmetric", T("%%MatrixMarket vector coordinate real symmetric\n1 0\n"), E_INPUT, 1, "vector"},
    {"vector hermitian", T("%%MatrixMarket vector array complex hermitian\n1\n"), E_INPUT, 1, "vector"},
    {"HTML without a kind", T("<HTML><head>\n"), E_INPUT, 1, "HTML"},
    {"ZIP", T("PK\3\4\n"), E_INPUT, 1, "an .npz file as Matrix Market with scipy.io.mmwrite"},
    {"npy", T("\x93NUMPY\1\n"), E_INPUT, 1, "a NumPy .npy file; write it as Matrix Market with scipy.io.mmwrite"},
    {"UTF-16 of the other order", T("\xfe\xff\0%\0%\0M\n"), E_INPUT, 1, "UTF-16"},
    {"HTML", T("<!DOCTYPE html>\n<html>\n"), E_INPUT, 1, "HTML"},
    {"git-LFS", T("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), E_INPUT, 1, "git-LFS"},
    {"Harwell-Boeing",
     T("1SYMMETRIC STIFFNESS MATRIX                                             BCSSTK01\n"
       "            74             4            14            56             0\n"
       "RSA                        48            48           224             0\n"),
     E_INPUT, 1, "Harwell-Boeing"},
    {"a banner above what looks like Harwell-Boeing",
     T(COO("real general") "2 2 1\nRSA                        48            48\n"), E_INPUT, 3, "row index"},
    {"MATLAB", T("MATLAB 5.0 MAT-file, Platform: GLNXA64\n"), E_INPUT, 1, "MATLAB"},
    {"HDF5", T("\x89HDF\r\n\x1a\n"), E_INPUT, 1, "HDF5"},
    {"UTF-16", T("\xff\xfe%\0%\0M\0\n\0"), E_INPUT, 1, "UTF-16"},
    {"UTF-16 without mark", T("%\0%\0M\0\n\0"), E_INPUT, 1, "UTF-16"},
    {"ELF",
     T("\x7f"
       "ELF\x02\x01\x01\n"),
     E_INPUT, 1, "ELF"},
    {"no size", T(COO("real general") "% only this\n\n"), E_INPUT, 3, "no size line"},
    {"size not integer", T(COO("real general") "2.0 2 1\n1 1 1\n"), E_INPUT, 2, "number of rows"},
    {"size negative", T(COO("real general") "2 -2 1\n1 1 1\n"), E_INPUT, 2,
     "columns on the size line is a negative number: \"-2\""},
    {"size short", T(COO("real general") "2 2\n1 1 1\n"), E_INPUT, 2, "but needs 3"},
    {"size in one", T(COO("real general") "2\n1 1 1\n"), E_INPUT, 2, "but needs 3"},
    {"size of four", T(COO("real general") "2 2 1 1\n1 1 1\n"), E_INPUT, 2, "has 4 numbers"},
    {"size with a comma", T(COO("real general") "2,2,1\n1 1 1\n"), E_INPUT, 2, "number of rows"},
    {"size with NUL", T(COO("real general") "2 2\0 1\n1 1 1\n"), E_INPUT, 2, "number of columns"},
    {"array size short", T(ARR("real general") "2\n1\n2\n"), E_INPUT, 2, "but needs 2"},
    {"vector of two columns", T("%%MatrixMarket vector array real general\n2 2\n1\n2\n3\n4\n"), E_INPUT, 2,
     "the vector has 2 columns; a vector must have one column"},
    {"size long", T(ARR("real general") "2 2 4\n1\n"), E_INPUT, 2, "has 3 numbers, but needs 2 (rows columns)"},
    {"comment glued to the size", T(COO("real general") "3 3 1%\n1 1 1\n"), E_INPUT, 2,
     "not an integer: \"1%\"; a comment must begin after a blank"},
    {"comment glued to a value", T(COO("real general") "2 2 1\n2 2 5%\n"), E_INPUT, 3,
     "\"5%\" is not a decimal number; a comment must begin after a blank"},
    {"comment glued to an index", T(COO("pattern general") "2 2 1\n2 2%x\n"), E_INPUT, 3,
     "not an integer: \"2%x\"; a comment must begin after a blank"},
    {"comment glued to the banner", T(COO("real general%x") "2 2 0\n"), E_INPUT, 1, "unknown symmetry \"general%x\""},
    {"size glued", T(COO("real general") "2 2 1x\n1 1 1\n"), E_INPUT, 2, "\"1x\""},
    {"beyond 64 bits", T(COO("real general") "99999999999999999999 2 1\n1 1 1\n"), E_LIMIT, 2, "beyond 64 bits"},
    {"entries that wrap", T(COO("real general") "2 2 18446744073709551617\n1 1 1\n"), E_LIMIT, 2, "beyond 64 bits"},
    {"rows that wrap", T(COO("real general") "18446744073709551617 1 1\n1 1 1\n"), E_LIMIT, 2, "beyond 64 bits"},
    {"rows that wrap in 32 bits", T(COO("real general") "4294967297 1 1\n1 1 1\n"), E_LIMIT, 2,
     "4294967297 x 1 is too large"},
    {"product beyond 63 bits", T(ARR("real general") "2147483647 2147483647\n1\n"), E_LIMIT, 2, "4611686014132420609"},
    {"product that wraps to 0", T(ARR("real general") "4294967296 4294967296\n"), E_LIMIT, 2,
     "4294967296 x 4294967296"},
    {"symmetric array of 2^31 entries", T(ARR("real symmetric") "65536 65536\n1\n"), E_INPUT, 2,
     "declares 2147516416 entries"},
    {"symmetric array too short to hold", T(ARR("real symmetric") "65535 65535\n1\n"), E_INPUT, 2,
     "declares 2147450880 entries"},
    {"skew array too short to hold", T(ARR("real skew-symmetric") "65536 65536\n1\n"), E_INPUT, 2,
     "declares 2147450880 entries"},
    {"10^18", T(COO("real general") "1000000000000000000 1000000000000000000 1\n1 1 1\n"), E_LIMIT, 2,
     "1000000000000000000"},
    {"2^31 rows", T(COO("real general") "2147483648 1 1\n1 1 1\n"), E_LIMIT, 2, "2147483648"},
    {"2^31 entries", T(COO("real general") "1 1 2147483648\n1 1 1\n"), E_INPUT, 2, "declares 2147483648 entries"},
    {"2^32 array", T(ARR("real general") "65536 65536\n1\n"), E_INPUT, 2, "declares 4294967296 entries"},
    {"too short to hold", T(COO("real general") "9 9 1000000000\n1 1 1\n"), E_INPUT, 2, "can hold at most 1"},
    {"array too short to hold", T(ARR("real general") "9999 9999\n1\n"), E_INPUT, 2, "declares 99980001 entries"},
    {"fewer", T(COO("real general") "% c\n3 3 3\n1 1 1.25\n2 2 1.25\n"), E_INPUT, 3,
     "declares 3 entries, but the file ends at line 5 after 2"},
    {"fewer values", T(ARR("real general") "2 2\n1.5\n2.5\n3.5\n"), E_INPUT, 2, "after 3"},
    {"more", T(COO("real general") "3 3 2\n\n1 1 1\n%\n2 2 1\n\n%\n3 3 1\n1 2 1\n"), E_INPUT, 9,
     "the size line (line 2) declares only 2"},
    {"more values", T(ARR("real general") "1 1\n1\n2\n"), E_INPUT, 4, "declares only 1"},
    {"values in an empty array", T(ARR("real general") "0 7\n1\n"), E_INPUT, 3, "declares only 0"},
    {"entries where none are declared", T(COO("real general") "2 2 0\n1 1 1\n"), E_INPUT, 3, "declares only 0"},
    {"fewer entries and a fault", T(COO("real general") "9 9 2\n1 x 1\n         "), E_INPUT, 3, "\"x\""},
    {"entry of an empty matrix", T(COO("real general") "0 0 1\n1 1 1\n"), E_INPUT, 3, "row 1 is outside"},
    {"vector index 0", T("%%MatrixMarket vector coordinate real general\n5 1\n0 7\n"), E_INPUT, 3, "0-based"},
    {"vector index above", T("%%MatrixMarket vector coordinate real general\n5 1\n6 7\n"), E_INPUT, 3,
     "row 6 is outside 1 .. 5"},
    {"row 0", T(COO("real general") "2 2 1\n0 1 1\n"), E_INPUT, 3, "0-based"},
    {"column 0", T(COO("real general") "2 2 1\n1 0 1\n"), E_INPUT, 3, "column 0 is outside 1 .. 2"},
    {"negative", T(COO("real general") "2 2 1\n-1 1 1\n"), E_INPUT, 3, "row -1 is outside"},
    {"above", T(COO("real general") "2 2 1\n1 3 1\n"), E_INPUT, 3, "column 3 is outside 1 .. 2"},
    {"wraps", T(COO("real general") "2 2 1\n4294967297 1 1\n"), E_INPUT, 3, "row 4294967297 is outside"},
    {"index overflow", T(COO("real general") "2 2 1\n1 99999999999999999999999 1\n"), E_LIMIT, 3, "beyond 64 bits"},
    {"index not integer", T(COO("real general") "2 2 1\n1.0 1 1\n"), E_INPUT, 3, "not an integer: \"1.0\""},
    {"index glued", T(COO("real general") "2 2 1\n1a 1 1\n"), E_INPUT, 3, "\"1a\""},
    {"column glued to its value", T(COO("real general") "2 2 1\n1 2-1\n"), E_INPUT, 3, "not an integer: \"2-1\""},
    {"column glued to a fraction", T(COO("real general") "2 2 1\n1 2.5\n"), E_INPUT, 3, "not an integer: \"2.5\""},
    {"column glued in a later line", T(COO("complex general") "2 2 2\n1 1 1 1\n1 2-1 1\n"), E_INPUT, 4, "\"2-1\""},
    {"row glued to its column", T(COO("pattern general") "2 2 1\n1+1\n"), E_INPUT, 3, "not an integer: \"1+1\""},
    {"vector index glued", T("%%MatrixMarket vector coordinate real general\n2 1\n2-1\n"), E_INPUT, 3, "\"2-1\""},
    {"index missing", T(COO("real general") "2 2 1\n1\n        "), E_INPUT, 3, "the line ends before its column index"},
    {"value missing on the last line", T(COO("real general") "2 2 2\n1 1 5\n2 2\n"), E_INPUT, 4,
     "the line ends before its value"},
    {"value missing before the last line", T(COO("real general") "2 2 2\n2 2\n1 1 5"), E_INPUT, 3,
     "the line ends before its value"},
    {"index missing at the end", T(COO("real general") "2 2 1\n1"), E_INPUT, 3,
     "the line ends before its column index"},
    {"value missing before a comment", T(COO("real general") "2 2 1\n1 2 % 7\n"), E_INPUT, 3,
     "the line ends before its value"},
    {"index missing before a comment", T(COO("real general") "2 2 1\n1 % 2 7\n"), E_INPUT, 3,
     "the line ends before its column index"},
    {"imaginary missing on the last line", T(COO("complex general") "2 2 1\n1 2 3"), E_INPUT, 3,
     "real and imaginary values"},
    {"value missing", T(COO("real general") "2 2 1\n1 2\n        "), E_INPUT, 3, "the line ends before its value"},
    {"imaginary missing", T(COO("complex general") "2 2 1\n1 2 3\n      "), E_INPUT, 3, "real and imaginary values"},
    {"hex", T(COO("real general") "2 2 1\n1 2 0x1p3\n"), E_INPUT, 3, "\"0x1p3\""},
    {"underscore", T(COO("real general") "2 2 1\n1 2 1_000\n"), E_INPUT, 3, "\"1_000\""},
    {"bare e", T(COO("real general") "2 2 1\n1 2 1e\n"), E_INPUT, 3, "\"1e\""},
    {"bare d", T(COO("real general") "2 2 1\n1 2 1d\n"), E_INPUT, 3, "\"1d\""},
    {"short exponent without letter", T(COO("real general") "2 2 1\n1 2 1-2\n"), E_INPUT, 3, "\"1-2\""},
    {"imaginary part glued", T(COO("complex general") "2 2 1\n1 2 1.5-2\n"), E_INPUT, 3, "real and imaginary values"},
    {"two exponents", T(COO("real general") "2 2 1\n1 2 1.5e2+2\n"), E_INPUT, 3, "\"1.5e2+2\""},
    {"four digits after a point without letter", T(COO("real general") "2 2 1\n1 2 1.5+1000\n"), E_INPUT, 3,
     "\"1.5+1000\""},
    {"two signs", T(COO("real general") "2 2 1\n1 2 --1\n"), E_INPUT, 3, "\"--1\""},
    {"plus minus", T(COO("real general") "2 2 1\n1 2 +-1\n"), E_INPUT, 3, "\"+-1\""},
    {"two plus", T(COO("real general") "2 2 1\n1 2 ++1\n"), E_INPUT, 3, "\"++1\""},
    {"NA", T(COO("real general") "2 2 1\n1 2 NA\n"), E_INPUT, 3, "\"NA\""},
    {"comma", T(COO("real general") "2 2 1\n1 2 1,5\n"), E_INPUT, 3, "\"1,5\""},
    {"point", T(COO("real general") "2 2 1\n1 2 .\n"), E_INPUT, 3, "\".\""},
    {"infinitive", T(COO("real general") "2 2 1\n1 2 infinitive\n"), E_INPUT, 3, "\"infinitive\""},
    {"extra column", T(COO("real general") "2 2 1\n1 2 3 4\n"), E_INPUT, 3, "complex"},
    {"extra column in pattern", T(COO("pattern general") "2 2 1\n1 2 3\n"), E_INPUT, 3, "real, integer or complex"},
    {"two values in an array", T(ARR("real general") "2 1\n1 2\n3\n"), E_INPUT, 3, "goes on after 1 number"},
    {"trailing comma", T(COO("real general") "2 2 1\n1 2 3,\n"), E_INPUT, 3, "\"3,\""},
    {"exponent twice", T(COO("real general") "2 2 1\n1 2 1e5d3\n"), E_INPUT, 3, "\"1e5d3\""},
    {"exponent with a fraction", T(COO("real general") "2 2 1\n1 2 1e5.5\n"), E_INPUT, 3, "\"1e5.5\""},
    {"four digits without letter", T(COO("real general") "2 2 1\n1 2 1+1000\n"), E_INPUT, 3, "\"1+1000\""},
    {"only a sign", T(COO("real general") "2 2 1\n1 2 -\n "), E_INPUT, 3, "\"-\""},
    {"nan with more", T(COO("real general") "2 2 1\n1 2 nan(\n"), E_INPUT, 3, "\"nan(\""},
    {"three values in a complex file", T(COO("complex general") "2 2 1\n1 2 3 4 5\n"), E_INPUT, 3,
     "goes on after 4 numbers"},
    {"NUL in a number", T(COO("real general") "2 2 1\n1 2 3\0004\n"), E_INPUT, 3, "3\\x004"},
    {"a symmetric array of both triangles", T(ARR("real symmetric") "2 2\n1\n2\n2\n4\n"), E_INPUT, 6,
     "this is one value too many: a symmetric array of 2 x 2 holds only the lower triangle, 3 values; if the file "
     "holds all values, write `general` in the banner"},
    {"a skew array of both triangles", T(ARR("real skew-symmetric") "2 2\n0\n2\n-2\n0\n"), E_INPUT, 4,
     "holds only the strict lower triangle, 1 value; "},
    {"HTML after a blank line", T("\n<html lang=\"en\">\n"), E_INPUT, 2, "but an HTML page: the download went wrong"},
    {"XML", T("<?xml version=\"1.0\"?>\n"), E_INPUT, 1, "but XML, perhaps a web page: the download went wrong"},
    {"PDF", T("%PDF-1.7\n"), E_INPUT, 1, "but a PDF document; give the file of a matrix"},
    {"PNG", T("\x89PNG\r\n\x1a\n"), E_INPUT, 1, "but a PNG image; give the file of a matrix"},
    {"JPEG", T("\xff\xd8\xff\xe0\0\x10JFIF\0"), E_INPUT, 1, "but a JPEG image"},
    {"GIF", T("GIF89a\1\0"), E_INPUT, 1, "but a GIF image"},
    {"pickle", T("\x80\x04\x95\x10"), E_INPUT, 1, "but a Python pickle; in Python, write the matrix with"},
    {"Parquet", T("PAR1\x15\x04"), E_INPUT, 1, "but a Parquet table; write its rows, columns and values"},
    {"Arrow", T("ARROW1\0\0"), E_INPUT, 1, "but an Arrow table; write its rows, columns and values"},
    {"SQLite", T("SQLite format 3\0"), E_INPUT, 1, "but an SQLite database; write the matrix as Matrix Market"},
    {"NetCDF", T("CDF\x01\0\0"), E_INPUT, 1, "but a NetCDF file; write the matrix as Matrix Market"},
    {"JSON", T("{\"rows\": 3}\n"), E_INPUT, 1, "but JSON text; write the matrix as Matrix Market"},
    {"an unknown binary file", T("\1\2\3\xfe\n"), E_INPUT, 1, "no banner: this is a binary file of an unknown kind"},
    {"text of another encoding", T("\xe9t\xe9\n"), E_INPUT, 1, "not with \"\\xe9t\\xe9\""},
    {"a 7-Zip archive", T("7z\xbc\xaf'\x1c\0\4"), E_INPUT, 1, "but a 7-Zip archive; unpack it with `7z x`"},
    {"a file of compress",
     T("\x1f\x9d\x90"
       "aaaa"),
     E_INPUT, 1, "(.Z); unpack it with `gzip -d`"},
    {"a file of lzma", T("]\0\0\x80\0\xff\xff"), E_INPUT, 1, "compressed as .lzma; unpack it with `xz -d`"},
    {"a no-break space",
     T(COO("real general") "2 2 1\n1\xc2\xa0"
                           "2 3\n"),
     E_INPUT, 3, "the row index is text that is not an integer: \"1\\xc2\\xa02\""},
    {"DEL and bytes beyond ASCII", T(COO("real general") "2 2 1\n1 2 3\x7f\xc2\xa0\n"), E_INPUT, 3, "3"},
    {"form feed line", T(COO("real general") "2 2 1\n1 2 3\n\f\n"), E_INPUT, 4, "\\x0c"},
    {"NUL", T(COO("real general") "2 2 1\n1 2 3\0\n"), E_INPUT, 3, "\"3\\x00\""},
    {"NUL line", T(COO("real general") "2 2 1\n\0\0\0\0\0\n1 2 3\n"), E_INPUT, 3, "\\x00"},
    {"control byte", T(COO("real general") "2 2 1\n1 2 3\n\x1b[2J\n"), E_INPUT, 4, "\\x1b[2J"},
    {"vertical tab", T(COO("real general") "2 2 1\n1 2\v3\n  \n"), E_INPUT, 3, "\\x0b"},
    {"DOS byte inside", T(COO("real general") "2 2 2\n1 2 3\n\x1a\n2 2 2\n"), E_INPUT, 4, "\\x1a"},
    {"not square", T(COO("real symmetric") "2 3 1\n2 1 1\n"), E_INPUT, 2,
     "the matrix is 2 x 3, but a symmetric matrix must be square"},
    {"skew not square", T(COO("real skew-symmetric") "3 2 1\n2 1 1\n"), E_INPUT, 2, "the matrix is 3 x 2"},
    {"hermitian not square", T(COO("complex hermitian") "3 2 1\n2 1 1 1\n"), E_INPUT, 2, "the matrix is 3 x 2"},
    {"array not square", T(ARR("real symmetric") "2 3\n1\n2\n3\n"), E_INPUT, 2, "is 2 x 3"},
    {"both triangles of a skew file", T(COO("real skew-symmetric") "2 2 2\n2 1 1\n1 2 -1\n"), E_INPUT, 4,
     "mirror image"},
    {"both triangles of a hermitian file", T(COO("complex hermitian") "2 2 2\n1 2 1 1\n2 1 1 -1\n"), E_INPUT, 4,
     "mirror image"},
    {"both triangles", T(COO("real symmetric") "3 3 4\n3 1 1\n2 1 1\n%\n1 2 1\n1 3 2\n"), E_INPUT, 6, "mirror image"},
    {"both triangles, twice", T(COO("real symmetric") "3 3 4\n2 1 1\n3 1 1\n1 2 1\n1 3 2\n"), E_INPUT, 5,
     "mirror image"},
    {"both triangles, upper first", T(COO("real symmetric") "3 3 3\n1 3 1\n3 3 1\n3 1 1\n"), E_INPUT, 5,
     "mirror image"},
    {"skew diagonal", T(COO("real skew-symmetric") "2 2 1\n1 1 3\n"), E_INPUT, 3, "diagonal"},
    {"skew nan diagonal", T(COO("real skew-symmetric") "2 2 1\n1 1 nan\n"), E_INPUT, 3, "diagonal"},
    {"skew inf diagonal", T(COO("real skew-symmetric") "2 2 1\n2 2 -inf\n"), E_INPUT, 3, "diagonal"},
    {"skew complex diagonal", T(COO("complex skew-symmetric") "2 2 1\n2 2 0 1\n"), E_INPUT, 3, "diagonal"},
    {"hermitian nan diagonal", T(COO("complex hermitian") "2 2 1\n2 2 3 nan\n"), E_INPUT, 3, "imaginary part"},
    {"hermitian array nan diagonal", T(ARR("complex hermitian") "1 1\n1 nan\n"), E_INPUT, 3, "imaginary part"},
    {"hermitian diagonal", T(COO("complex hermitian") "2 2 2\n2 1 1 1\n2 2 3 1\n"), E_INPUT, 4, "imaginary part"},
    {"hermitian array diagonal", T(ARR("complex hermitian") "2 2\n1 0\n\n2 3\n4 5\n"), E_INPUT, 6, "imaginary part"},
    {"earlier of two faults", T(COO("real general") "2 2 3\n1 1 1\n1 2 x\n1 3 1\n"), E_INPUT, 4, "\"x\""},
    {"surplus before a fault", T(COO("real general") "2 2 1\n1 1 1\n1 2 1\n1 3 x\n"), E_INPUT, 4, "declares only 1"},
    {"contradiction before a fault", T(COO("real symmetric") "2 2 3\n2 1 1\n1 2 1\n1 3 x\n"), E_INPUT, 4,
     "mirror image"},
    {"CR lines", T("%%MatrixMarket matrix coordinate real general\r%\r\r2 2 2\r1 1 1\r1 9 1\r"), E_INPUT, 6,
     "column 9 is outside"},
    {"CRLF lines", T("%%MatrixMarket matrix coordinate real general\r\n%\r\n\r\n2 2 2\r\n1 1 1\r\n1 9 1\r\n"), E_INPUT,
     6, "column 9 is outside"},
    {"BOM line", T("\xef\xbb\xbf" COO("real general") "2 2 1\n1 9 1\n"), E_INPUT, 3, "column 9 is outside"},
    {"long quote",
     T(COO("real general") "2 2 1\n1 1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
     E_INPUT, 3, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\""},
};

static const int thread_counts[] = {1, 2, 7, 64};
/* Block sizes in bytes; 0 is the default. Runs with 64 threads are slow, so they skip the middle sizes. */
static const struct {
    int threads;
    int64_t block;
} ways[] = {{1, 1}, {1, 16}, {1, 61}, {1, 0},  {2, 1}, {2, 16}, {2, 61},
            {2, 0}, {7, 1},  {7, 16}, {7, 61}, {7, 0}, {64, 1}, {64, 0}};

/* Compare with the slow reader. */
static void compare_with_slow(const char *name, const char *path)
{
    size_t n;
    char how[1024] = "", *text = read_whole(path, &n);
    struct slow_mtx slow;
    struct csr A;
    struct err e = {0};
    slow_read(text, n, true, &slow);
    mtx_load(path, NULL, &A, NULL, &e);
    if (!slow_agrees(&slow, &A, &e, how, sizeof how)) fail_msg("%s: %s", name, how);
    csr_free(&A);
    slow_free(&slow);
    mem_free(text);
}

enum { SHOWN = 4096 };

/* Load in one of the `ways`, and compare the result with `expected`. */
static void load_a_way(int way, const char *name, const char *path, const char *expected)
{
    char out[SHOWN];
    mtx_hooks(ways[way].block, ways[way].threads);
    show_load(path, out, sizeof out);
    mtx_hooks(0, 0);
    if (strcmp(out, expected))
        fail_msg("%s: %d threads, blocks of %d: expected \"%s\", got \"%s\"", name, ways[way].threads,
                 (int)ways[way].block, expected, out);
}

/* Load with every number of threads and block size; all results must be equal. `out` receives the result. */
static void load_all_ways(const char *name, const char *path, char *out, size_t size)
{
    mtx_hooks(0, 1);
    show_load(path, out, size);
    for (int way = 0; way < COUNT(ways); way++) load_a_way(way, name, path, out);
    compare_with_slow(name, path);
}

/* Test all texts with one number of threads and block size before the next, because starting 64 threads takes longer
   than testing the texts. */
static void check_texts(const struct text *t, int n)
{
    for (int way = 0; way < COUNT(ways); way++)
        for (int i = 0; i < n; i++) load_a_way(way, t[i].name, write_file("case.mtx", t[i].text, t[i].n), t[i].result);
    for (int i = 0; i < n; i++) compare_with_slow(t[i].name, write_file("case.mtx", t[i].text, t[i].n));
}

TEST(unambiguous_text_is_accepted_silently)
{
    check_texts(taken, COUNT(taken));
}

TEST(deviations_are_accepted_with_a_warning)
{
    check_texts(warned, COUNT(warned));
}

static const char *refused_file(int i)
{
    return write_file("case.mtx", refused[i].text, refused[i].n);
}

TEST(everything_else_is_refused_with_its_line)
{
    static char said[COUNT(refused)][SHOWN];
    char start[32];
    for (int i = 0; i < COUNT(refused); i++) {
        show_load(refused_file(i), said[i], sizeof said[i]);
        snprintf(start, sizeof start, "%d %d: ", (int)refused[i].code, refused[i].line);
        if (strncmp(said[i], start, strlen(start)) || !strstr(said[i], refused[i].says))
            fail_msg("%s: expected \"%s...%s\", got \"%s\"", refused[i].name, start, refused[i].says, said[i]);
        compare_with_slow(refused[i].name, refused_file(i));
    }
    for (int way = 0; way < COUNT(ways); way++)
        for (int i = 0; i < COUNT(refused); i++) load_a_way(way, refused[i].name, refused_file(i), said[i]);
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

TEST(long_lines_cost_little)
{
    static const struct {
        const char *head, *tail, *starts;
        char fill;
    } table[] = {
        {COO("real general") "%", "\n1 1 1\n1 1 2\n", "1x1: 1 1 2", 'x'},
        {COO("real general") "%", "\r\n1 1 1\r\n1 1 x\r\n", "2 4: ", 'x'},
        {COO("real general") "1 1 1\n1 1 0.", "\n", "1x1: 1 1 0.3333333333333333", '3'},
        {COO("real general") "1 1 1\n1 1 1.", "D+03\n", "1x1: 1 1 1000 | line 3: 1 Fortran exponent", '0'},
        {COO("real general") "1 1 1\n1 1 ", "\n", "2 3: ", 'x'},
        {COO("real general") "1 1 1\n1 1 ", "2\n", "1x1: 1 1 2", ' '},
    };
    char out[4096];
    for (int i = 0; i < COUNT(table); i++)
        for (int tiny = 0; tiny < 2; tiny++) {
            mtx_hooks(tiny ? 61 : 0, 2);
            show_load(write_long(table[i].head, table[i].fill, tiny ? 1 << 20 : 10 << 20, table[i].tail), out,
                      sizeof out);
            if (strncmp(out, table[i].starts, strlen(table[i].starts)) || strlen(out) > 200)
                fail_msg("%d: expected \"%s\", got \"%s\"", i, table[i].starts, out);
        }
    mtx_hooks(0, 0);
}

/* A text of 20,000 entries. Entries `first` and `second` (counted from 1; 0: none) are damaged. */
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

TEST(the_first_fault_is_reported)
{
    static const int faults[][2] = {{15000, 9001}, {9001, 9002}, {1, 20000}, {19999, 20000}};
    static const char *const eols[] = {"\n", "\r\n", "\r", "\r\n"};
    char out[4096], start[32];
    for (int i = 0; i < COUNT(faults); i++) {
        int first = faults[i][0] < faults[i][1] ? faults[i][0] : faults[i][1];
        load_all_ways("many", write_many(faults[i][0], faults[i][1], eols[i]), out, sizeof out);
        snprintf(start, sizeof start, "2 %d: ", first + 2);
        if (strncmp(out, start, strlen(start))) fail_msg("expected line %d, got \"%s\"", first + 2, out);
    }
}

TEST(order_does_not_depend_on_threads)
{
    struct csr A, B;
    struct err e = {0};
    const char *path = write_many(0, 0, "\n");
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

TEST(numbers_are_rounded_as_strtod_rounds)
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
    for (int i = 0; i < COUNT(hard); i++) {
        double v;
        unsigned how;
        const char *end = hard[i] + strlen(hard[i]);
        assert_ptr_equal(number_parse(hard[i], end, &v, &how), end);
        if (v != strtod(hard[i], NULL)) fail_msg("%s became %a", hard[i], v);
    }
}

/* With two threads, let blocks end at every position of every line, including inside a CRLF or a number. */
TEST(blocks_may_end_anywhere)
{
    static const char text[] = "\xef\xbb\xbf" COO(
        "complex symmetric") "%% comment\r\n\r4 4 5 % size\r\n"
                             " 1\t1 1.5D+03 -2.25e-1\r\n% more\n2 1 .5 6.\r\r\n4   3 1e5 -0\n\n4 4 7 8\r\n3 1 1 2\x1a";
    char out[4096], other[4096];
    const char *path = write_file("cut.mtx", text, sizeof text - 1);
    show_load(path, out, sizeof out);
    assert_memory_equal(out, "4x4: 1 1 1500 -0.225; 1 2 0.5 6; 1 3 1 2; 2 1", 45);
    for (int block = 1; block < (int)sizeof text; block++) {
        mtx_hooks(block, 2);
        show_load(path, other, sizeof other);
        if (strcmp(out, other)) fail_msg("blocks of %d: expected \"%s\", got \"%s\"", block, out, other);
    }
    mtx_hooks(0, 0);
}

/* A comment whose length puts its line end at this distance from the end of a page or block. */
TEST(line_ends_may_lie_across_a_page)
{
    static const int64_t pages[] = {4096, 1 << 16, 1 << 18, 1 << 20};
    static const char *const ends[] = {"\r\n", "\r", "\n", "\r\r\n", "\n\r"};
    static const char head[] = COO("real general") "%";
    char tail[128], out[4096], result[64];
    for (int i = 0; i < COUNT(pages) * COUNT(ends) * 5; i++) {
        int64_t page = pages[i / COUNT(ends) / 5], before = i % 5;
        const char *end = ends[i / 5 % COUNT(ends)];
        snprintf(tail, sizeof tail, "%s1 1 1%s%%%s1 x 2%s", end, end, end, end);
        const char *path = write_long(head, 'c', (size_t)(page - before) - (sizeof head - 1), tail);
        bool two = !strcmp(end, "\r\r\n") || !strcmp(end, "\n\r"); /* a blank line follows each line */
        snprintf(result, sizeof result, "2 %d: ", two ? 8 : 5);
        for (int threads = 1; threads < 3; threads++) {
            mtx_hooks(page > 4096 ? page : 0, threads);
            show_load(path, out, sizeof out);
            if (strncmp(out, result, strlen(result))) fail_msg("%d: expected \"%s\", got \"%s\"", i, result, out);
        }
    }
    mtx_hooks(0, 0);
}

TEST(entries_are_counted)
{
    static const struct {
        const char *text;
        int nnz, stored, duplicates, zeros;
    } table[] = {
        {COO("real general") "3 2 6\n1 1 0\n2 2 1\n2 2 -1\n3 1 4\n3 2 -0\n1 1 0\n", 4, 6, 2, 3},
        {COO("complex general") "1 4 4\n1 1 0 0\n1 2 0 3\n1 3 3 0\n1 4 -0 0\n", 4, 4, 0, 2},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct csr A;
        struct load_info info;
        struct err e = {0};
        assert_true(mtx_load(write_file("case.mtx", table[i].text, strlen(table[i].text)), NULL, &A, &info, &e));
        assert_int_equal(A.nnz, table[i].nnz);
        assert_int_equal(info.nnz_stored, table[i].stored);
        assert_int_equal(info.duplicates, table[i].duplicates);
        assert_int_equal(info.explicit_zeros, table[i].zeros);
        csr_free(&A);
    }
}

/* Each of 3000 lines deviates in several tolerated ways; each kind of deviation is reported once. */
TEST(many_deviations_make_few_warnings)
{
    enum { LINES = 3000, ROOM = LINES * 40 };
    char *text = mem_new(ROOM, 1, "text", NULL), out[4096];
    int at = snprintf(text, ROOM, "%s2 2 %d\n", COO("integer symmetric"), LINES);
    for (int i = 0; i < LINES; i++) at += snprintf(text + at, (size_t)(ROOM - at), "1 2 1.5D+00 %% c\n%%\n");
    load_all_ways("liberties", write_file("many.mtx", text, (size_t)at), out, sizeof out);
    assert_string_equal(
        out, "2x2: 1 2 4500; 2 1 4500"
             " | line 2: more entries are declared than the matrix has positions, so some are duplicates"
             " | line 3: 6000 comments after the size line were skipped"
             " | line 3: 3000 Fortran exponents (1.5D+03, 1.5+103) were read as e"
             " | line 3: 3000 fractions were kept in an integer file"
             " | line 3: 3000 entries above the diagonal were mirrored | 2999 duplicate entries were summed");
    mem_free(text);
}

/* Repeat the tests above that read numbers in a locale with a decimal comma. */
static void in_german(CMUnitTestFunction test)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("skip: no locale de_DE.UTF-8\n");
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    test(NULL);
}

TEST(unambiguous_text_is_accepted_silently_in_german)
{
    in_german(unambiguous_text_is_accepted_silently);
}

TEST(deviations_are_accepted_with_a_warning_in_german)
{
    in_german(deviations_are_accepted_with_a_warning);
}

TEST(everything_else_is_refused_with_its_line_in_german)
{
    in_german(everything_else_is_refused_with_its_line);
}

TEST(blocks_may_end_anywhere_in_german)
{
    in_german(blocks_may_end_anywhere);
}

TEST(long_lines_cost_little_in_german)
{
    in_german(long_lines_cost_little);
}

TEST(entries_are_counted_in_german)
{
    in_german(entries_are_counted);
}

TEST(many_deviations_make_few_warnings_in_german)
{
    in_german(many_deviations_make_few_warnings);
}

static int back(void **state)
{
    setlocale(LC_ALL, "C.UTF-8");
    return tidy(state);
}

SUITE(.after = back);
