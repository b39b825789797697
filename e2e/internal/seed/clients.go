package seed

import (
	"fmt"
	"os"
	"path/filepath"
)

// TrustClients makes the API server accept client certificates of another CA, given in PEM. It takes up to a minute.
func (s *Seed) TrustClients(authority []byte) error {
	// envtest's own CA is in this file, which kube-apiserver watches.
	path := filepath.Join(s.environment.ControlPlane.GetAPIServer().CertDir, "client-cert-auth-ca.crt")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening the authorities that clients are trusted by: %w", err)
	}
	if _, err := file.Write(authority); err != nil {
		_ = file.Close()
		return fmt.Errorf("adding an authority that clients are trusted by: %w", err)
	}
	return file.Close()
}
