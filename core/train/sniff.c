/* sniff.c - see sniff.h. */
#include "core/train/sniff.h"

#include "core/base/i18n.h"

static const struct {
    const char *magic;
    size_t n;
    enum sniff kind;
} magics[] = {
    {"version https://git-lfs", 23, SNIFF_LFS}, {"PK\3\4", 4, SNIFF_ZIP},
    {"\x80\2", 2, SNIFF_PICKLE},                {"\x80\3", 2, SNIFF_PICKLE},
    {"\x80\4", 2, SNIFF_PICKLE},                {"GGUF", 4, SNIFF_GGUF},
    {"\x1f\x8b", 2, SNIFF_GZIP},                {"{", 1, SNIFF_JSON},
    {"[", 1, SNIFF_JSON},                       {"<", 1, SNIFF_HTML},
    {"\0\0\0\0\0\0\0\0", 8, SNIFF_ZEROS},
};

static const struct {
    const char *text, *hint;
} words[SNIFF_KINDS] = {
    [SNIFF_EMPTY] = {N_("the file is empty"), N_("get it again")},
    [SNIFF_HTML] = {N_("this is a web page, not a tensor file"),
                    N_("the link led to a page (a sign-in, an error): use the download link")},
    [SNIFF_LFS] = {N_("this is a Git LFS pointer, not the file itself"),
                   N_("git lfs pull fetches the file")},
    [SNIFF_ZIP] = {N_("this is a zip file (as torch.save writes), not safetensors"),
                   N_("load it with torch and save it with safetensors.torch.save_file")},
    [SNIFF_PICKLE] = {N_("this is a pickle (pytorch_model.bin), not safetensors"),
                      N_("load it with torch and save it with safetensors.torch.save_file")},
    [SNIFF_GGUF] = {N_("this is a GGUF file"), N_("podium-train import makes a folder of it")},
    [SNIFF_GZIP] = {N_("this is a gzip file"), N_("unpack it first")},
    [SNIFF_JSON] = {N_("this is JSON text, not a tensor file"),
                    N_("look for the .safetensors file beside it")},
    [SNIFF_ZEROS] = {N_("the file begins with zeros: its content was never written"),
                     N_("the disk was full, or the machine stopped while it was written; "
                        "get it again")},
};

enum sniff sniff_bytes(const uint8_t *p, size_t n)
{
    if (n == 0)
        return SNIFF_EMPTY;
    for (size_t i = 0; i < ARRAY_LEN(magics); i++)
        if (n >= magics[i].n && memcmp(p, magics[i].magic, magics[i].n) == 0)
            return magics[i].kind;
    return SNIFF_UNKNOWN;
}

const char *sniff_text(enum sniff s)
{
    return words[s].text ? _(words[s].text) : NULL;
}

const char *sniff_hint(enum sniff s)
{
    return words[s].hint ? _(words[s].hint) : NULL;
}
