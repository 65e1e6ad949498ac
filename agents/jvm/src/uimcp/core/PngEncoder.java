package uimcp.core;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import uimcp.core.Contract.ErrorCode;

/** Encodes ARGB pixels as an RGB PNG; own code because runtime images may lack the module java.desktop. */
public final class PngEncoder {
    private PngEncoder() {}

    /** Encode pixels in rows from the top; scale them down to {@code maxWidth} first, unless that is 0. */
    public static byte[] encode(int[] pixels, int width, int height, int maxWidth) throws AgentException {
        if (maxWidth > 0 && maxWidth < width) {
            int scaledHeight = Math.max(1, (int) ((long) height * maxWidth / width));
            return png(scaled(pixels, width, height, maxWidth, scaledHeight), maxWidth, scaledHeight);
        }
        return png(pixels, width, height);
    }

    private static int[] scaled(int[] pixels, int width, int height, int toWidth, int toHeight) {
        int[] small = new int[toWidth * toHeight];
        for (int y = 0; y < toHeight; y++) {
            int top = (int) ((long) y * height / toHeight);
            int bottom = Math.max(top + 1, (int) ((long) (y + 1) * height / toHeight));
            for (int x = 0; x < toWidth; x++) {
                int left = (int) ((long) x * width / toWidth);
                int right = Math.max(left + 1, (int) ((long) (x + 1) * width / toWidth));
                small[y * toWidth + x] = mean(pixels, width, left, right, top, bottom);
            }
        }
        return small;
    }

    private static int mean(int[] pixels, int width, int left, int right, int top, int bottom) {
        long red = 0;
        long green = 0;
        long blue = 0;
        int count = (right - left) * (bottom - top);
        for (int y = top; y < bottom; y++) {
            for (int x = left; x < right; x++) {
                int pixel = pixels[y * width + x];
                red += pixel >> 16 & 255;
                green += pixel >> 8 & 255;
                blue += pixel & 255;
            }
        }
        return 0xff000000 | (int) (red / count) << 16 | (int) (green / count) << 8 | (int) (blue / count);
    }

    private static byte[] png(int[] pixels, int width, int height) throws AgentException {
        try {
            var out = new ByteArrayOutputStream();
            out.write(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
            var header = new ByteArrayOutputStream();
            var numbers = new DataOutputStream(header);
            numbers.writeInt(width);
            numbers.writeInt(height);
            numbers.write(new byte[] {8, 2, 0, 0, 0}); // 8 bits, RGB, the only compression and filter, not interlaced
            chunk(out, "IHDR", header.toByteArray());
            chunk(out, "IDAT", deflated(scanlines(pixels, width, height)));
            chunk(out, "IEND", new byte[0]);
            return out.toByteArray();
        } catch (IOException impossible) {
            throw new AgentException(ErrorCode.INTERNAL, impossible.toString());
        }
    }

    private static byte[] scanlines(int[] pixels, int width, int height) {
        byte[] rows = new byte[(width * 3 + 1) * height];
        int at = 0;
        for (int y = 0; y < height; y++) {
            rows[at++] = 0; // no filter
            for (int x = 0; x < width; x++) {
                int pixel = pixels[y * width + x];
                rows[at++] = (byte) (pixel >> 16);
                rows[at++] = (byte) (pixel >> 8);
                rows[at++] = (byte) pixel;
            }
        }
        return rows;
    }

    private static byte[] deflated(byte[] rows) {
        var deflater = new Deflater(Deflater.BEST_SPEED);
        deflater.setInput(rows);
        deflater.finish();
        var out = new ByteArrayOutputStream(rows.length / 8);
        byte[] buffer = new byte[65536];
        while (!deflater.finished()) {
            out.write(buffer, 0, deflater.deflate(buffer));
        }
        deflater.end();
        return out.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream out, String name, byte[] body) throws IOException {
        var data = new DataOutputStream(out);
        byte[] type = name.getBytes(StandardCharsets.US_ASCII);
        var sum = new CRC32();
        sum.update(type);
        sum.update(body);
        data.writeInt(body.length);
        data.write(type);
        data.write(body);
        data.writeInt((int) sum.getValue());
    }
}
