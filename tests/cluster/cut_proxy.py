"""A TCP proxy in front of the API server that cuts its connections: each after a
random time between LOW and HIGH seconds, with a reset or politely in turn.

  cut_proxy.py TARGET_PORT LOW HIGH SEED PORT_FILE

Its own port goes to PORT_FILE; the number of cuts so far to PORT_FILE.cuts.
"""
import asyncio
import os
import random
import socket
import struct
import sys

target, low, high, seed, out = sys.argv[1:]
rng = random.Random(int(seed))
cuts = 0


async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


def count():
    global cuts
    cuts += 1
    with open(out + ".tmp", "w") as f:
        f.write(f"{cuts}\n")
    os.replace(out + ".tmp", out + ".cuts")


async def serve(reader, writer):
    up_reader, up_writer = await asyncio.open_connection("127.0.0.1", int(target))
    pumps = [asyncio.create_task(pump(reader, up_writer)),
             asyncio.create_task(pump(up_reader, writer))]
    done, _ = await asyncio.wait(pumps, timeout=rng.uniform(float(low), float(high)),
                                 return_when=asyncio.FIRST_COMPLETED)
    if not done:
        count()
        if cuts % 2:    # a reset: what lies in the buffers is thrown away
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for p in pumps:
        p.cancel()
    await asyncio.gather(*pumps, return_exceptions=True)
    for w in (writer, up_writer):
        w.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    with open(out + ".new", "w") as f:
        f.write(str(server.sockets[0].getsockname()[1]))
    os.replace(out + ".new", out)
    async with server:
        await server.serve_forever()


asyncio.run(main())
