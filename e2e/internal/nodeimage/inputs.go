package nodeimage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// digest is a hash of a text and of all files in folders, except tests and documentation.
func digest(text string, dirs ...string) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", text)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md"):
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(dir, path)
			fmt.Fprintf(hash, "%q %d\n", relative, len(content))
			hash.Write(content)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// digestPackages is a hash of a text, and of the files of the packages of a module and of all that they need of the same checkout. Other modules stand in go.sum.
func digestPackages(ctx context.Context, text, module string, packages ...string) (string, error) {
	const format = `{{with .Module}}{{if or .Main .Replace}}{{$.Dir}}{{range $.GoFiles}} {{.}}{{end}}{{range $.EmbedFiles}} {{.}}{{end}}{{end}}{{end}}`
	list, err := output(ctx, module, "go", append([]string{"list", "-deps", "-f", format}, packages...)...)
	if err != nil {
		return "", err
	}
	files := []string{filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")}
	for line := range strings.Lines(list) {
		names := strings.Fields(line)
		for _, name := range names[min(1, len(names)):] {
			files = append(files, filepath.Join(names[0], name))
		}
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", text)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		relative, err := filepath.Rel(module, file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%q %d\n", relative, len(content))
		hash.Write(content)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// pinned returns the version of a module that the module in a folder requires. It reads go.mod itself: the go command would load the whole
// module graph.
func pinned(dir, module string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("%s/go.mod does not require %s", dir, module)
}
