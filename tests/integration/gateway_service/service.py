"""A real service made with FastAPI: a shop with a key, uploads, pages, errors and pictures."""

import struct
import sys
import zlib

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query, Response, UploadFile
from fastapi.security import APIKeyHeader
from pydantic import BaseModel, Field

from ui_mcp.jsontypes import JsonObject

app = FastAPI(title="Shop")
key = APIKeyHeader(name="X-Key")
boats: dict[int, dict[str, object]] = {n: {"id": n, "name": f"boat {n}", "length": n * 1.5} for n in range(1, 251)}


class Boat(BaseModel):
    name: str = Field(min_length=1)
    length: float = Field(gt=0)
    tags: list[str] = []


def owner(given: str = Depends(key)) -> str:
    if given != "k3y-for-boats":
        raise HTTPException(401, "wrong key")
    return "owner"


@app.get("/boats", operation_id="list_boats")
def list_boats(
    response: Response, page: int = 1, per_page: int = Query(50, le=100), name: list[str] = Query([])
) -> list[JsonObject]:
    rows = [boat for boat in boats.values() if not name or boat["name"] in name]
    if page * per_page < len(rows):
        response.headers["Link"] = f'</boats?page={page + 1}&per_page={per_page}>; rel="next"'
    return rows[(page - 1) * per_page : page * per_page]


@app.post("/boats", status_code=201, operation_id="create_boat")
def create_boat(boat: Boat, who: str = Depends(owner)) -> JsonObject:
    number = max(boats) + 1
    boats[number] = {"id": number, **boat.model_dump()}
    return boats[number]


@app.get("/boats/{boat_id}", operation_id="get_boat")
def get_boat(boat_id: int) -> JsonObject:
    if boat_id not in boats:
        raise HTTPException(404, f"no boat {boat_id}")
    return boats[boat_id]


@app.delete("/boats/{boat_id}", status_code=204, operation_id="delete_boat")
def delete_boat(boat_id: int, who: str = Depends(owner)) -> None:
    boats.pop(boat_id, None)


@app.post("/boats/{boat_id}/photo", operation_id="upload_photo")
async def upload_photo(boat_id: int, photo: UploadFile, who: str = Depends(owner)) -> JsonObject:
    data = await photo.read()
    return {"boat": boat_id, "bytes": len(data), "filename": photo.filename, "type": photo.content_type}


@app.get("/boats/{boat_id}/photo", operation_id="get_photo", responses={200: {"content": {"image/png": {}}}})
def get_photo(boat_id: int) -> Response:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, rows = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), zlib.compress(b"\0\xff\0\0")
    body = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return Response(body, media_type="image/png")


if __name__ == "__main__":
    uvicorn.run(app, fd=int(sys.argv[1]), log_level="error")
