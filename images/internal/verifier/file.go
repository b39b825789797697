package verifier

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/signing"
)

// SumsFile is a list of files with their SHA-256, as sha256sum writes and checks it.
const SumsFile = "SHA256SUMS"

// verifyFile checks the signature of a file; of SumsFile also the files on the list that are beside it.
func verifyFile(_ context.Context, key signing.PublicKey, path string, out io.Writer) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	signature, err := os.ReadFile(path + attestation.SignatureSuffix)
	if err != nil {
		return err
	}
	if err := key.VerifyBlob(content, string(bytes.TrimSpace(signature))); err != nil {
		return err
	}
	if filepath.Base(path) != SumsFile {
		fmt.Fprintf(out, "%s\n  signed\n", path)
		return nil
	}
	checked, missing, err := verifySums(filepath.Dir(path), string(content))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n  signed; %d files are as it says, %d are not here\n", path, checked, missing)
	return nil
}

// verifySums checks all files that are in the folder: who downloads a release rarely takes all of them.
func verifySums(folder, sums string) (checked, missing int, err error) {
	var all []error
	for line := range strings.Lines(sums) {
		sum, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !found || !filepath.IsLocal(name) {
			return 0, 0, fmt.Errorf("%q is no sum of a file in this folder", line)
		}
		actual, err := SumOf(filepath.Join(folder, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case err != nil:
			all = append(all, err)
		case actual != sum:
			all = append(all, fmt.Errorf("%s is not the file that was signed", name))
		default:
			checked++
		}
	}
	return checked, missing, errors.Join(all...)
}

// SumOf is the SHA-256 of a file.
func SumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
