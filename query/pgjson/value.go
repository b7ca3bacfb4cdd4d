package pgjson

import (
	"encoding/binary"
	"math"
	"strconv"
)

// appendJSON writes a value that is not NULL.
func (e *Encoder) appendJSON(dst []byte, n *node, v []byte, strip bool) ([]byte, error) {
	switch n.form {
	case formText:
		return appendString(dst, v), nil
	case formUUID:
		if len(v) != 16 {
			return dst, n.malformed()
		}
		return append(appendUUID(append(dst, '"'), v), '"'), nil
	case formBool:
		if len(v) != 1 {
			return dst, n.malformed()
		}
		if v[0] != 0 {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case formJSON, formJSONB:
		if n.form == formJSONB {
			if len(v) == 0 || v[0] != jsonbVersion {
				return dst, n.malformed()
			}
			v = v[1:]
		}
		if !strip {
			return append(dst, v...), nil
		}
		dst, ok := appendWithoutNulls(dst, v)
		if !ok {
			return dst, n.malformed()
		}
		return dst, nil
	case formTimestamp, formTimestampTZ:
		if len(v) != 8 {
			return dst, n.malformed()
		}
		micros := int64(binary.BigEndian.Uint64(v))
		ok := false
		dst = append(dst, '"')
		if n.form == formTimestampTZ {
			dst, ok = appendTimestampTZ(dst, micros, e.zone, jsonStyle)
		} else {
			dst, ok = appendTimestamp(dst, micros, jsonStyle)
		}
		if !ok {
			return dst, n.malformed()
		}
		return append(dst, '"'), nil
	case formFloat4, formFloat8, formNumeric:
		start := len(dst)
		dst, number, err := appendNumber(dst, n, v)
		if err != nil || number {
			return dst, err
		}
		word := dst[start:]
		var room [len("-Infinity")]byte
		word = room[:copy(room[:], word)]
		return append(append(append(dst[:start], '"'), word...), '"'), nil
	case formInt2, formInt4, formInt8:
		return appendInteger(dst, n, v)
	case formArray:
		return e.appendArray(dst, n, v, strip)
	case formRecord:
		return e.appendRecord(dst, n, v, strip)
	case formOnly:
		return e.appendOnly(dst, n, v, strip)
	case formBytea:
		dst = append(dst, `"\\x`...)
		return append(appendHex(dst, v), '"'), nil
	case formChar:
		if len(v) != 1 {
			return dst, n.malformed()
		}
		if v[0] < 0x80 {
			if v[0] == 0 {
				v = nil
			}
			return appendString(dst, v), nil
		}
		dst = append(dst, '"', '\\')
		return append(appendOctal(dst, v[0]), '"'), nil
	default:
		dst, err := e.appendScalar(append(dst, '"'), n, v)
		if err != nil {
			return dst, err
		}
		return append(dst, '"'), nil
	}
}

const jsonbVersion = 1

// appendInteger writes an int2, int4 or int8.
func appendInteger(dst []byte, n *node, v []byte) ([]byte, error) {
	switch {
	case n.form == formInt8 && len(v) == 8:
		return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(v)), 10), nil
	case n.form == formInt4 && len(v) == 4:
		return strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(v))), 10), nil
	case n.form == formInt2 && len(v) == 2:
		return strconv.AppendInt(dst, int64(int16(binary.BigEndian.Uint16(v))), 10), nil
	default:
		return dst, n.malformed()
	}
}

// appendNumber writes a float or numeric; number is false when it is a word instead.
func appendNumber(dst []byte, n *node, v []byte) (_ []byte, number bool, err error) {
	switch {
	case n.form == formFloat8 && len(v) == 8:
		dst, number = appendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(v)), 64)
	case n.form == formFloat4 && len(v) == 4:
		dst, number = appendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(v))), 32)
	case n.form == formNumeric && validNumeric(v):
		word := numericWord(v)
		if number = word == ""; number {
			dst = appendNumeric(dst, v)
		} else {
			dst = append(dst, word...)
		}
	default:
		return dst, false, n.malformed()
	}
	return dst, number, nil
}

// appendScalar writes the forms whose text is the same in JSON, within quotes, and alone.
func (e *Encoder) appendScalar(dst []byte, n *node, v []byte) ([]byte, error) {
	switch {
	case n.form == formDate && len(v) == 4:
		return appendDate(dst, int32(binary.BigEndian.Uint32(v))), nil
	case n.form == formTime && len(v) == 8:
		if micros := binary.BigEndian.Uint64(v); micros <= microsPerDay {
			return appendTime(dst, micros), nil
		}
	case n.form == formTimeTZ && len(v) == 12:
		micros := binary.BigEndian.Uint64(v)
		west := int32(binary.BigEndian.Uint32(v[8:]))
		if micros <= microsPerDay && west > -maxTimeOffset && west < maxTimeOffset {
			return appendOffset(appendTime(dst, micros), -west, false), nil
		}
	case n.form == formInterval && len(v) == 16:
		micros := int64(binary.BigEndian.Uint64(v))
		days, months := int32(binary.BigEndian.Uint32(v[8:])), int32(binary.BigEndian.Uint32(v[12:]))
		return appendInterval(dst, micros, days, months, e.interval), nil
	case n.form == formOID && len(v) == 4:
		return strconv.AppendUint(dst, uint64(binary.BigEndian.Uint32(v)), 10), nil
	case n.form == formVoid:
		return dst, nil
	}
	return dst, n.malformed()
}

func appendOctal(dst []byte, c byte) []byte {
	return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
}

func (n *node) malformed() error { return &ValueError{OID: n.oid} }
