package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1constants "github.com/gardener/gardener/pkg/apis/security/v1alpha1/constants"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// Keys that the Secret cloudprovider has for programs besides the user's, which are upstream's.
const (
	keyCredentialsFile   = "credentialsFile"
	keyIdentityTokenFile = "workloadIdentityTokenFile"
)

const (
	// credentialsName is the name of the config with the access key.
	credentialsName   = "cloud-provider-credentials"
	credentialsFolder = "/srv/cloudprovider" //nolint:gosec // a folder, not a secret
	// identityFolder is where components mount the token of a workload identity.
	identityFolder    = "/var/run/secrets/gardener.cloud/workload-identity"
	identityTokenFile = identityFolder + "/" + auth.KeyToken
)

// CompleteCredentials implements controlplane.Driver. Afterwards the Secret has a file in the format of AWS' own programs. It has none if the credentials are
// not complete; the objects that need them report that.
func (d *Driver) CompleteCredentials(secret *corev1.Secret, cluster *contract.Cluster) error {
	data := secret.Data
	for _, key := range []string{keyCredentialsFile, keyIdentityTokenFile} {
		delete(data, key)
	}
	credentials, complete := staticCredentials(data)
	if secret.Labels[securityv1alpha1constants.LabelPurpose] == securityv1alpha1constants.LabelPurposeWorkloadIdentityTokenRequestor {
		credentials, complete = identityCredentials(data)
	}
	if !complete {
		return nil
	}
	file, err := credentialsFile(credentials, cluster.Shoot.Spec.Region)
	if err != nil {
		return err
	}
	data[keyCredentialsFile] = []byte(file)
	return nil
}

// staticCredentials returns the access key, if it is complete.
func staticCredentials(data map[string][]byte) (auth.Credentials, bool) {
	credentials, err := auth.ParseCredentials(data)
	return credentials, err == nil
}

// identityCredentials returns the role of a workload identity, and sets the keys with it. Its token may not be there yet.
func identityCredentials(data map[string][]byte) (auth.Credentials, bool) {
	delete(data, auth.KeyRoleARN)
	config, err := awsv1alpha1.DecodeStoredWorkloadIdentityConfig(&runtime.RawExtension{Raw: data[auth.KeyConfig]})
	if err != nil || config.RoleARN == "" {
		return auth.Credentials{}, false
	}
	data[auth.KeyRoleARN], data[keyIdentityTokenFile] = []byte(config.RoleARN), []byte(identityTokenFile)
	return auth.Credentials{RoleARN: config.RoleARN}, true
}

// credentialsFile returns the credentials in the format of AWS' own programs, without a line break at the end. The format has no way to escape one.
func credentialsFile(credentials auth.Credentials, region string) (string, error) {
	lines := []string{"[default]"}
	if credentials.AccessKeyID != "" {
		lines = append(lines, "aws_access_key_id="+credentials.AccessKeyID, "aws_secret_access_key="+credentials.SecretAccessKey)
	} else {
		lines = append(lines, "web_identity_token_file="+identityTokenFile, "role_arn="+credentials.RoleARN)
	}
	lines = append(lines, "region="+region)
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			key, _, _ := strings.Cut(line, "=")
			return "", cloud.Errorf(cloud.Configuration, "the value of %q has a line break: remove it", key)
		}
	}
	return strings.Join(lines, "\n"), nil
}

func (in *inputs) usesIdentity() bool { return in.credentials.Token != "" }

// credentialsConfig is the file with the access key. A workload identity needs none: its token is renewed without new pods.
func (in *inputs) credentialsConfig() ([]controlplane.Config, error) {
	if in.usesIdentity() {
		return nil, nil
	}
	file, err := credentialsFile(in.credentials, in.region)
	if err != nil {
		return nil, err
	}
	return []controlplane.Config{{Name: credentialsName, Files: map[string][]byte{keyCredentialsFile: []byte(file)}}}, nil
}

// withCredentials adds the credentials and the region to a container that uses AWS' SDK.
func (in *inputs) withCredentials(container component.Container) component.Container {
	container.Env = append(container.Env, corev1.EnvVar{Name: "AWS_REGION", Value: in.region})
	if in.usesIdentity() {
		container.Env = append(container.Env,
			corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: identityTokenFile}, corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: in.credentials.RoleARN})
		return in.withIdentity(container)
	}
	container.Env = append(container.Env, corev1.EnvVar{Name: "AWS_SHARED_CREDENTIALS_FILE", Value: path.Join(credentialsFolder, keyCredentialsFile)})
	container.Files = append(container.Files, component.Files{Source: credentialsName, Path: credentialsFolder})
	return container
}

// withIdentity mounts the token of a workload identity, if there is one.
func (in *inputs) withIdentity(container component.Container) component.Container {
	if in.usesIdentity() {
		container.Files = append(container.Files, component.Files{
			Secret: v1beta1constants.SecretNameCloudProvider, Keys: []string{auth.KeyToken}, Path: identityFolder,
		})
	}
	return container
}

// credentialsChecksum changes with the credentials, but not with a renewed token. It is for programs that read the Secret when they start.
func (in *inputs) credentialsChecksum() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{in.credentials.AccessKeyID, in.credentials.SecretAccessKey, in.credentials.RoleARN}, "\n")))
	return hex.EncodeToString(sum[:8])
}

// readsCredentials makes a component read the Secret with the credentials from the seed.
func (in *inputs) readsCredentials(c component.Component) component.Component {
	c.SeedRules = credentialsRules()
	c.PodAnnotations = map[string]string{"checksum/secret-" + v1beta1constants.SecretNameCloudProvider: in.credentialsChecksum()}
	return c
}
