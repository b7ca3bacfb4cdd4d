package pgjson

import "encoding/binary"

// hex8 spreads four bytes into the eight ASCII characters of their hexadecimal form, the first in the highest byte.
func hex8(x uint32) uint64 {
	v := uint64(x)
	v = v<<16&0x0000ffff00000000 | v&0x000000000000ffff
	v = v<<8&0x00ff000000ff0000 | v&0x000000ff000000ff
	v = v<<4&0x0f000f000f000f00 | v&0x000f000f000f000f
	letters := (v + 0x0606060606060606) >> 4 & eachOne // one in each lane above 9
	return v + 0x3030303030303030 + letters*('a'-'9'-1)
}

// appendUUID writes 16 bytes in the groups 8-4-4-4-12.
func appendUUID(dst, v []byte) []byte {
	var out [36]byte
	_ = v[15]
	binary.BigEndian.PutUint64(out[0:], hex8(binary.BigEndian.Uint32(v)))
	second := hex8(binary.BigEndian.Uint32(v[4:]))
	third := hex8(binary.BigEndian.Uint32(v[8:]))
	out[8] = '-'
	binary.BigEndian.PutUint32(out[9:], uint32(second>>32))
	out[13] = '-'
	binary.BigEndian.PutUint32(out[14:], uint32(second))
	out[18] = '-'
	binary.BigEndian.PutUint32(out[19:], uint32(third>>32))
	out[23] = '-'
	binary.BigEndian.PutUint32(out[24:], uint32(third))
	binary.BigEndian.PutUint64(out[28:], hex8(binary.BigEndian.Uint32(v[12:])))
	return append(dst, out[:]...)
}

func appendHex(dst, v []byte) []byte {
	for ; len(v) >= 4; v = v[4:] {
		dst = binary.BigEndian.AppendUint64(dst, hex8(binary.BigEndian.Uint32(v)))
	}
	for _, c := range v {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&0xf])
	}
	return dst
}
