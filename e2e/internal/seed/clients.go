package seed

import (
	"fmt"
	"os"
	"path/filepath"
)

// TrustClients has the API server take whoever has a certificate of another authority, given in PEM, for who that certificate says. It takes up to
// a minute until it does.
func (s *Seed) TrustClients(authority []byte) error {
	// envtest keeps the certificate of its own there, and kube-apiserver watches the file.
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
