package aws

import (
	"encoding/json"
	"fmt"
	"path"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// Paths and names on nodes, which are upstream's, so that adopted nodes keep their files and units.
const (
	mtuScript = "/opt/bin/mtu-customizer.sh"
	mtuUnit   = "custom-mtu.service"

	credentialProvider       = "ecr-credential-provider"                           //nolint:gosec // a program, not a secret
	credentialProviderConfig = "/opt/gardener/ecr-credential-provider-config.json" //nolint:gosec // a file, not a secret
)

// addMTUCustomizer sets the MTU of a machine's network interfaces. Only shoots from times when that was necessary have it.
func addMTUCustomizer(tuned *tuning.Tuning) {
	tuned.Files = append(tuned.Files, extensionsv1alpha1.File{
		Path: mtuScript, Permissions: new(uint32(0o755)),
		Content: extensionsv1alpha1.FileContent{Inline: &extensionsv1alpha1.FileContentInline{Data: mtuScriptText}},
	})
	tuned.Units = append(tuned.Units, extensionsv1alpha1.Unit{
		Name: mtuUnit, Enable: new(true), Command: new(extensionsv1alpha1.CommandStart), Content: new(mtuUnitText), FilePaths: []string{mtuScript},
	})
}

// Only interfaces of the machine have a device; those of pods have none.
const mtuScriptText = `#!/bin/sh
for folder in /sys/class/net/*; do
  interface=${folder##*/}
  if [ -e "$folder/device" ]; then
    echo "setting the MTU of $interface"
    ip link set dev "$interface" mtu 1460
  fi
done
`

const mtuUnitText = `[Unit]
Description=Set the MTU of the network interfaces of this machine
After=network.target
Wants=network.target

[Install]
WantedBy=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=` + mtuScript + `
`

// addImageCredentialProvider lets the kubelet log in to registries of AWS with the role of the node.
func addImageCredentialProvider(tuned *tuning.Tuning, find func(name string) (string, error)) error {
	image, err := find(credentialProvider)
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig",
		"providers": []any{map[string]any{
			"apiVersion": "credentialprovider.kubelet.k8s.io/v1", "name": credentialProvider,
			"matchImages": ecrRegistries(), "defaultCacheDuration": "1h0m0s",
		}},
	})
	if err != nil {
		return fmt.Errorf("encoding the configuration of the credential provider: %w", err)
	}
	tuned.Files = append(tuned.Files,
		extensionsv1alpha1.File{
			Path: path.Join(v1beta1constants.OperatingSystemConfigFilePathBinaries, credentialProvider), Permissions: new(uint32(0o755)),
			Content: extensionsv1alpha1.FileContent{ImageRef: &extensionsv1alpha1.FileContentImageRef{
				Image: image, FilePathInImage: "/bin/" + credentialProvider,
			}},
		},
		extensionsv1alpha1.File{
			Path: credentialProviderConfig, Permissions: new(uint32(0o644)),
			Content: extensionsv1alpha1.FileContent{Inline: &extensionsv1alpha1.FileContentInline{Data: string(config)}},
		},
	)
	tuned.Kubelet.SetFlags["--image-credential-provider-config"] = credentialProviderConfig
	tuned.Kubelet.SetFlags["--image-credential-provider-bin-dir"] = v1beta1constants.OperatingSystemConfigFilePathBinaries + "/"
	return nil
}

// ecrRegistries are patterns of the host names of registries, in all partitions of AWS.
func ecrRegistries() []string {
	return []string{
		"*.dkr.ecr.*.amazonaws.com",
		"*.dkr.ecr.*.amazonaws.com.cn",
		"*.dkr.ecr-fips.*.amazonaws.com",
		"*.dkr-ecr.*.on.aws",
		"*.dkr.ecr.us-iso-east-1.c2s.ic.gov",
		"*.dkr.ecr.us-isob-east-1.sc2s.sgov.gov",
	}
}
