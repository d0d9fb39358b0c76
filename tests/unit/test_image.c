/* Pictures of pixels: which cells they take, when they are made again, and what happens without libsixel. The terminal
   tests (test_pixels.py) decode them. */
#include "base/err.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "ui/figure.h"
#include "ui/pixels.h"

#include <dlfcn.h>

static const struct pixel_terminal by_kitty = {PIXELS_KITTY, 10, 20}, by_sixel = {PIXELS_SIXEL, 10, 20};

static bool has_cairo(void)
{
    void *library = dlopen("libcairo.so.2", RTLD_LAZY);
    if (!library) print_message("skip: cairo is not installed\n");
    return library;
}

TEST(a_picture_is_made_once)
{
    struct image im = {.id = 1};
    struct figure f = {0};
    struct err e = {0};
    if (!has_cairo()) return;
    figure_rect(&f, ST_BAR, 1, 2.5, 3, 4, 1.5);
    assert_true(image_make(&im, &f, 20, 10, by_kitty, &e));
    assert_true(im.at.x == 2 && im.at.y == 3 && im.at.w == 5 && im.at.h == 2);
    assert_true(im.w == 50 && im.h == 40);
    assert_true(im.pixel[0] == (uint32_t)CLEAR_PIXEL && im.pixel[5] == 0x56b4e9);
    const char *before = im.bytes;
    assert_true(image_make(&im, &f, 20, 10, by_kitty, &e));
    assert_ptr_equal(im.bytes, before);
    uint64_t hash = im.hash;
    figure_rect(&f, ST_BAR, 1, 2.5, 5, 4, 1);
    assert_true(image_make(&im, &f, 20, 10, by_kitty, &e));
    assert_true(im.hash != hash && im.at.h == 3);
    figure_clear(&f);
    assert_true(image_make(&im, &f, 20, 10, by_kitty, &e));
    assert_true(!im.bytes && !im.at.w);
    figure_free(&f);
    image_free(&im);
}

TEST(a_missing_library_is_named)
{
    struct image im = {.id = 1};
    struct figure f = {0};
    struct err e = {0};
    if (!has_cairo()) return;
    const char *before = sixel_library_name;
    sixel_library_name = "libnowhere.so.1";
    figure_rect(&f, ST_BAR, 1, 0, 0, 4, 2);
    assert_false(image_make(&im, &f, 20, 10, by_sixel, &e));
    assert_non_null(strstr(e.text, "a sixel picture needs the library libnowhere.so.1, which is not installed"));
    assert_null(im.bytes);
    sixel_library_name = before;
    figure_free(&f);
    image_free(&im);
}
