/* Recognise files that contain no matrix, or a matrix in a form that cannot be read, so that an error can say what the
   file is. */
#include "base/base.h"
#include "mtx.h"

#include <string.h>

const char *skip_mark(const char *s, const char *end)
{
    return end - s >= 3 && !memcmp(s, "\xef\xbb\xbf", 3) ? s + 3 : s;
}

bool is_binary(const char *s, const char *end)
{
    for (; s < end; s++)
        if (((unsigned char)*s < ' ' && !strchr("\t\n\v\f\r\x1a", *s)) || *s == 0x7f || !*s) return true;
    return false;
}

/* Recognise a Harwell-Boeing file: its second line begins with a number, and its third line begins with the type.
   Unlike a banner, the first line of such a file does not begin with %. */
static bool is_harwell_boeing(const char *s, const char *end)
{
    const char *title = skip_blanks(skip_mark(s, end)), *counts = next_line(line_end(s, end), end);
    const char *type = next_line(line_end(counts, end), end);
    if (*title == '%' || end - type <= 14 || memchr(type, 0, 3)) return false;
    counts = skip_blanks(counts);
    return *counts >= '0' && *counts <= '9' && strchr("RCPI", type[0]) && strchr("SUHZR", type[1]) &&
           strchr("AE", type[2]) && !strncmp(type + 3, "           ", 11);
}

/* A tar archive without files consists of zeros. */
enum { TAR_BLOCK = 512 };
static const char block_of_zeros[TAR_BLOCK];

static bool begins_with(const char *s, int64_t n, const char *magic, int64_t length)
{
    bool same = n >= length;
    for (int64_t k = 0; same && k < length; k++)
        same = s[k] == magic[k] || (s[k] >= 'A' && s[k] <= 'Z' && s[k] + 'a' - 'A' == magic[k]);
    return same;
}

#define PICKLE "a Python pickle; in Python, write the matrix with scipy.sparse.save_npz"

const char *foreign_kind(const char *s, int64_t n)
{
    static const struct {
        int64_t len;
        const char *magic, *kind;
    } table[] = {
        {2, "\xff\xfe", "UTF-16 text; save it as ASCII or UTF-8"},
        {2, "\xfe\xff", "UTF-16 text; save it as ASCII or UTF-8"},
        {2, "%\0", "UTF-16 text; save it as ASCII or UTF-8"},
        {2, "\0%", "UTF-16 text; save it as ASCII or UTF-8"},
        {4,
         "\x7f"
         "ELF",
         "an ELF program; give the file of a matrix"},
        {9, "<!doctype", "an HTML page: the download went wrong; download the file itself"},
        {5, "<html", "an HTML page: the download went wrong; download the file itself"},
        {5, "<?xml", "XML, perhaps a web page: the download went wrong; download the file itself"},
        {5, "%pdf-", "a PDF document; give the file of a matrix"},
        {4, "\x89png", "a PNG image; give the file of a matrix"},
        {3, "\xff\xd8\xff", "a JPEG image; give the file of a matrix"},
        {4, "gif8", "a GIF image; give the file of a matrix"},
        {2, "\x80\2", PICKLE},
        {2, "\x80\3", PICKLE},
        {2, "\x80\4", PICKLE},
        {2, "\x80\5", PICKLE},
        {4, "par1", "a Parquet table; write its rows, columns and values as Matrix Market with scipy.io.mmwrite"},
        {6, "arrow1", "an Arrow table; write its rows, columns and values as Matrix Market with scipy.io.mmwrite"},
        {15, "sqlite format 3", "an SQLite database; write the matrix as Matrix Market"},
        {4, "cdf\x01", "a NetCDF file; write the matrix as Matrix Market with scipy.io.mmwrite"},
        {4, "cdf\x02", "a NetCDF file; write the matrix as Matrix Market with scipy.io.mmwrite"},
        {1, "{", "JSON text; write the matrix as Matrix Market"},
        {24, "version https://git-lfs.g", "a git-LFS pointer; fetch the file with git lfs pull"},
        {6, "matlab", "a MATLAB .mat file; write it as Matrix Market with scipy.io.mmwrite"},
        {4, "\x89hdf", "a MATLAB 7.3 or HDF5 file; write it as Matrix Market with scipy.io.mmwrite"},
        {6, "\x93numpy", "a NumPy .npy file; write it as Matrix Market with scipy.io.mmwrite"},
        {2, "pk", "a ZIP archive: unpack it first, or write an .npz file as Matrix Market with scipy.io.mmwrite"},
        {4, "7z\xbc\xaf", "a 7-Zip archive; unpack it with `7z x`"},
        {6, "rar!\x1a\x07", "a RAR archive; unpack it with `unrar x`"},
        {2, "\x1f\x9d", "a file compressed by `compress` (.Z); unpack it with `gzip -d`"},
        {3, "]\0\0", "a file compressed as .lzma; unpack it with `xz -d`"},
        {4, "lzip", "a file compressed as .lz; unpack it with `lzip -d`"},
        {4, "\x04\x22\x4d\x18", "a file compressed as .lz4; unpack it with `lz4 -d`"},
        {TAR_BLOCK, block_of_zeros, "a tar archive without files, or a file of zeros"},
    };
    for (int i = 0; i < COUNT(table); i++)
        if (begins_with(s, n, table[i].magic, table[i].len)) return table[i].kind;
    return n && is_harwell_boeing(s, s + n) ? "a Harwell-Boeing file; convert it to Matrix Market" : NULL;
}
