package managed

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/xi2/xz"
)

const (
	maxUnpacked = 1 << 30 // a PostgreSQL is 50 to 150 MB
	maxFiles    = 20_000
)

// unpackTree writes a tar.xz of programs into a new folder that everybody may read. Names and links that lead out of
// the folder are refused.
func unpackTree(source io.Reader, tree string) error {
	plain, err := xz.NewReader(source, 0)
	if err != nil {
		return err
	}
	if err := makeOpen(tree); err != nil {
		return err
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(maxUnpacked)
	archive := tar.NewReader(plain)
	for range maxFiles {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if left -= entry.Size; left < 0 {
			return errors.New("the archive is too large")
		}
		if err := unpackEntry(root, entry, archive); err != nil {
			return fmt.Errorf("%s: %w", entry.Name, err)
		}
	}
	return errors.New("the archive holds too many files")
}

func makeOpen(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755) // whatever the umask
}

// makeOpenParents makes a folder and the parents that are missing, as makeOpen does.
func makeOpenParents(dir string) error {
	err := makeOpen(dir)
	if errors.Is(err, os.ErrNotExist) {
		if err = makeOpenParents(filepath.Dir(dir)); err == nil {
			err = makeOpen(dir)
		}
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

func unpackEntry(root *os.Root, entry *tar.Header, content io.Reader) error {
	if !filepath.IsLocal(entry.Name) {
		return errors.New("the name leads out of the archive")
	}
	name := filepath.Clean(entry.Name)
	if entry.Typeflag == tar.TypeDir {
		return makeFolders(root, name)
	}
	if err := makeFolders(root, filepath.Dir(name)); err != nil {
		return err
	}
	switch entry.Typeflag {
	case tar.TypeReg:
		mode := os.FileMode(0o644)
		if entry.Mode&0o111 != 0 {
			mode = 0o755
		}
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := io.Copy(file, content); err != nil {
			return err
		}
		if err := file.Chmod(mode); err != nil {
			return err
		}
		return file.Close()
	case tar.TypeSymlink:
		if filepath.IsAbs(entry.Linkname) || !filepath.IsLocal(filepath.Join(filepath.Dir(name), entry.Linkname)) {
			return errors.New("the link leads out of the archive")
		}
		return root.Symlink(entry.Linkname, name)
	default:
		return nil
	}
}

func makeFolders(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeFolders(root, filepath.Dir(dir)); err != nil {
		return err
	}
	err := root.Mkdir(dir, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.Chmod(dir, 0o755)
}
