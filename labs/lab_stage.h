/* lab_stage.h - `podium lab stage LABDIR CONTEXT NAME=SOURCE...`: lays large
 * files and folders of a lab into a build context. Speaks JSON lines, as it is
 * a child of the console:
 *   {"ev":"stage","text":NAME,"done":BYTES,"total":BYTES} … {"ev":"done","bytes"}
 *   | {"ev":"error","code","text","hint"}
 * SOURCE is a path below LABDIR, or "@podium-train": the program beside ours.
 * A link in the lab's folder is refused: it could lead anywhere.
 */
#ifndef LABS_LAB_STAGE_H
#define LABS_LAB_STAGE_H

/* argv[0] is "stage". Exit codes as everywhere. */
int lab_stage(int argc, char **argv);

#endif
