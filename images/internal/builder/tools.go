package builder

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/sbom"
)

// ToolPlatforms are those of a release's tools for admins.
const ToolPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

const (
	windows     = "windows"
	licenseFile = "LICENSE"
)

// BuildTools compiles the tools for admins, which are the commands that have no image, and writes an archive of each for each platform to the folder,
// with the license, and beside it its bill of materials: TOOL-VERSION-OS-ARCH.tar.gz, .zip for Windows, and .cdx.json. It returns the names of the
// archives. The same source gives the same bytes. out gets a line for each archive.
func BuildTools(ctx context.Context, o Options, platforms []images.Platform, out io.Writer) ([]string, error) {
	j, err := prepare(ctx, o, out)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(j.scratch) //nolint:errcheck // nobody can do anything about a temporary folder that stays
	var names []string
	for _, tool := range j.module.tools {
		for _, platform := range platforms {
			name, err := j.buildTool(ctx, tool, platform)
			if err != nil {
				return nil, fmt.Errorf("tool %s for %s: %w", tool, platform, err)
			}
			j.logf("%s", name)
			names = append(names, name)
		}
	}
	return names, nil
}

func (j *job) buildTool(ctx context.Context, tool string, platform images.Platform) (string, error) {
	binary, err := j.module.compile(ctx, j.Options, tool, platform, filepath.Join(j.scratch, platform.OS+"-"+platform.Architecture))
	if err != nil {
		return "", err
	}
	defer os.Remove(binary) //nolint:errcheck // the folder is removed in the end
	bill, err := sbom.Write(sbom.Subject{Binary: binary, Name: tool, Version: j.Version, Created: j.created}, j.licenses.LicenseOf)
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	files := []toolFile{{name: tool, mode: 0o755, content: program}}
	if platform.OS == windows {
		files[0].name += ".exe"
	}
	license, err := os.ReadFile(filepath.Join(j.Source, licenseFile))
	switch {
	case err == nil:
		files = append(files, toolFile{name: licenseFile, mode: 0o644, content: license})
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	stem := strings.Join([]string{tool, j.Version, platform.OS, platform.Architecture}, "-")
	name, pack := stem+".tar.gz", packTar
	if platform.OS == windows {
		name, pack = stem+".zip", packZip
	}
	archive, err := pack(files, j.created)
	if err != nil {
		return "", err
	}
	return name, errors.Join(
		os.WriteFile(filepath.Join(j.Out, name), archive, 0o644),               //nolint:gosec // it is for everyone
		os.WriteFile(filepath.Join(j.Out, stem+".cdx.json"), bill.JSON, 0o644), //nolint:gosec // it is for everyone
	)
}

// toolFile is a file in an archive.
type toolFile struct {
	name    string
	mode    fs.FileMode
	content []byte
}

func packTar(files []toolFile, modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipper)
	for _, file := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: file.name, Mode: int64(file.mode), Size: int64(len(file.content)), ModTime: modified, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", file.name, err)
		}
		if _, err := archive.Write(file.content); err != nil {
			return nil, fmt.Errorf("packing %s: %w", file.name, err)
		}
	}
	err := errors.Join(archive.Close(), zipper.Close())
	return packed.Bytes(), err
}

func packZip(files []toolFile, modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, file := range files {
		header := &zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(file.mode)
		entry, err := archive.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(file.content)
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", file.name, err)
		}
	}
	err := archive.Close()
	return packed.Bytes(), err
}
