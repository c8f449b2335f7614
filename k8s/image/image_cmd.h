/* image_cmd.h - the commands `podium image build|push|pull|unpack|inspect|lint|explain`.
 *
 *   build  [-f FILE] [-t REF]... [--push] [--build-arg N=V]... [-o oci:DIR[:TAG]] CONTEXT
 *   push   [IMAGE] REF          IMAGE: oci:DIR[:TAG], or a reference of the store
 *   pull   REF [oci:DIR[:TAG]]
 *   unpack IMAGE ROOTFS         IMAGE as above
 *   lint   [-f FILE] [--error FILE] [--subuid FILE] [--target STAGE] [CONTEXT]
 *   explain FILE|-              what a failed build said
 *   inspect IMAGE               one JSON object: digest, config, layers
 * Common: --json, --store DIR, --kubeconfig FILE (default: the one kubectl would
 * take; a registry at the address of its cluster gets its CA and token), --user
 * NAME --password-file F, --token-file F, --ca-file F, --plain-http, --insecure.
 * Exit codes: 0 done, 1 failed (lint: errors were found), 2 usage.
 *
 * podium-practice offers the same (`podium-practice image …`) to its kubelet.
 *
 * --json writes one JSON object a line to stdout, each with "ev":
 *   {"ev":"plan","rows":[{"n":1,"line":1,"column":1,"text":"FROM scratch","stage":"base",
 *    "skipped":true}]}       once, before the first instruction of a build; stage and
 *                            skipped (its stage isn't needed) only when they hold
 *   {"ev":"finding","rule":"latest-tag","level":"error|warning|note","file":"…","line":1,
 *    "column":6,"cause":"…","evidence":"…","next":"…","buildkit":"…"}   build: errors and
 *                            warnings, before the plan; lint ends with {"ev":"linted",…}
 *   {"ev":"instruction","n":2,"total":7,"text":"COPY app /app"}
 *   {"ev":"step","n":2,"cached":true|false,"ms":12}      the instruction is done
 *   {"ev":"pack","done":BYTES,"total":BYTES}             a layer being written (build)
 *   {"ev":"layer","digest":"sha256:…","size":BYTES,"cached":true|false}
 *   {"ev":"push","digest":"sha256:…","done":BYTES,"total":BYTES}
 *   {"ev":"pull","digest":"sha256:…","done":BYTES,"total":BYTES}
 *   {"ev":"unpack","n":1,"total":3,"bytes":BYTES}        layers done, bytes written so far
 *   {"ev":"done","digest":"sha256:… of the manifest","ref":"…","bytes":BYTES,
 *    "config":{"entrypoint":[…],"cmd":[…],"env":["N=V"],"workdir":"…","user":"…"}}
 *   {"ev":"error","code":"PD-…","text":"…","hint":"…","file":"…","line":3,"column":5}
 * (error: file, line and column only when there is a place). The last line of
 * build, push, pull and unpack is always done or error. build --push: done comes
 * once, after the push; its bytes are the sizes of config and layers. unpack: bytes
 * are those written.
 * Progress lines come at most ten times a second a blob. pull, done: "bytes" as for
 * build and "ref" the complete reference. Without --json the same is text on
 * stdout, the error on stderr.
 */
#ifndef K8S_IMAGE_IMAGE_CMD_H
#define K8S_IMAGE_IMAGE_CMD_H

#include "core/base/base.h"

/* argv[0] is "image", argv[1] the subcommand. */
int image_main(int argc, char **argv);

#endif
