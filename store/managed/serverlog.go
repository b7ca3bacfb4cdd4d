package managed

import (
	"io"
	"os"
	"strings"
)

const (
	// maxLog bounds postgres.log; what is older goes to postgres.log.1, whose predecessor is dropped.
	maxLog = 8 << 20
	// maxComplaint is how much of the end of a log is searched for the reason of a failed start.
	maxComplaint = 64 << 10
)

// openLog opens the server's log for appending. The server writes to the file itself, not through Basalt: its log goes
// on when Basalt is killed.
func openLog(f folder) (*os.File, int64, error) {
	file, err := os.OpenFile(f.log(), os.O_RDWR|os.O_CREATE|os.O_APPEND, secretMode)
	if err != nil {
		return nil, 0, describe(err, "cannot open "+f.log(), f.root)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// trimLog keeps the log small. The server holds the file open, so it is copied and emptied, not renamed: the server
// appends, hence goes on at the beginning.
func trimLog(f folder) error {
	info, err := os.Stat(f.log())
	if err != nil || info.Size() <= maxLog {
		return err
	}
	from, err := os.Open(f.log())
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(f.log()+".1", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, secretMode)
	if err != nil {
		return err
	}
	defer to.Close()
	// The end is what matters, should the log have grown far over its bound meanwhile.
	if _, err := from.Seek(-maxLog, io.SeekEnd); err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	return os.Truncate(f.log(), 0)
}

// logSince is what the server has written from an offset on, at most the last 64 KiB.
func logSince(f folder, offset int64) string {
	file, err := os.Open(f.log())
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	if info.Size() < offset {
		offset = 0 // trimmed meanwhile
	}
	offset = max(offset, info.Size()-maxComplaint)
	text, err := io.ReadAll(io.NewSectionReader(file, offset, maxComplaint))
	if err != nil {
		return ""
	}
	return string(text)
}

// lastComplaint is the last FATAL or PANIC message of a log, else its last line: a program that cannot even be loaded
// says why without a level.
func lastComplaint(log, otherwise string) string {
	complaint, last := "", ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		last = line
		for _, level := range []string{"FATAL:  ", "PANIC:  "} {
			_, what, found := strings.Cut(line, level)
			if found && what != "the database system is starting up" && what != "the database system is shutting down" {
				complaint = what
			}
		}
	}
	switch {
	case complaint != "":
		return complaint
	case last != "":
		return last
	default:
		return otherwise
	}
}
