package io.mortise.it.versions;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The fields and methods that a compiled class refers to, from its constant pool. */
final class References {
  /**
   * A reference to a field, a constructor or a method.
   *
   * @param owner the binary name of the class that has the member, or inherits it
   * @param member its name and its descriptor
   */
  record Reference(String owner, String member) {
    @Override
    public String toString() {
      return owner + "." + member;
    }
  }

  private static final int MAGIC = 0xCAFEBABE;

  private final int[] tags;
  private final int[] first;
  private final int[] second;
  private final String[] texts;

  private References(DataInputStream in) throws IOException {
    if (in.readInt() != MAGIC) {
      throw new IOException("not a class file");
    }
    in.readInt(); // version
    int count = in.readUnsignedShort();
    tags = new int[count];
    first = new int[count];
    second = new int[count];
    texts = new String[count];
    for (int i = 1; i < count; i++) {
      tags[i] = in.readUnsignedByte();
      switch (tags[i]) {
        case 1 -> texts[i] = in.readUTF();
        case 3, 4 -> in.readInt();
        case 5, 6 -> {
          in.readLong();
          i++; // takes two entries
        }
        case 7, 8, 16, 19, 20 -> first[i] = in.readUnsignedShort();
        case 15 -> {
          in.readUnsignedByte();
          in.readUnsignedShort();
        }
        case 9, 10, 11, 12, 17, 18 -> {
          first[i] = in.readUnsignedShort();
          second[i] = in.readUnsignedShort();
        }
        default -> throw new IOException("unknown constant " + tags[i]);
      }
    }
  }

  static List<Reference> of(byte[] classFile) throws IOException {
    References pool = new References(new DataInputStream(new ByteArrayInputStream(classFile)));
    List<Reference> found = new ArrayList<>();
    for (int i = 1; i < pool.tags.length; i++) {
      if (pool.tags[i] >= 9 && pool.tags[i] <= 11) {
        int nameAndType = pool.second[i];
        found.add(
            new Reference(
                pool.texts[pool.first[pool.first[i]]].replace('/', '.'),
                pool.texts[pool.first[nameAndType]] + pool.texts[pool.second[nameAndType]]));
      }
    }
    return found;
  }
}
