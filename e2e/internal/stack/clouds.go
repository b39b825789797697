package stack

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// ensureCredential creates the member's application credential, and returns its ID. Keystone returns a secret only once, but accepts a given one.
func (l layout) ensureCredential(ctx context.Context) (string, error) {
	c, err := login(ctx, keystoneURL(), fake.DefaultUser, fake.DefaultPassword, fake.DefaultProject)
	if err != nil {
		return "", err
	}
	where := fmt.Sprintf("%s/users/%s/application_credentials", c.keystone, c.userID)
	made, err := c.ensure(ctx, collection{where, "application_credential", "application_credentials"},
		object{"name": fake.DefaultAppCredentialName}, object{"secret": fake.DefaultAppCredentialSecret})
	if err != nil {
		return "", fmt.Errorf("making the application credential: %w", err)
	}
	return text(made, "id"), nil
}

// writeClouds writes clouds.yaml (OpenStack SDK, "Configuring OpenStack SDK Applications").
func (l layout) writeClouds(ctx context.Context) error {
	credential, err := l.ensureCredential(ctx)
	if err != nil {
		return err
	}
	content, err := cloudsYAML(credential)
	if err != nil {
		return err
	}
	return write(l.clouds(), content)
}

func cloudsYAML(credential string) ([]byte, error) {
	cloud := func(kind string, auth map[string]string) object {
		auth["auth_url"] = keystoneURL()
		return object{
			"region_name": fake.DefaultRegion, "interface": "public", "identity_api_version": 3,
			"auth_type": kind, "auth": auth,
		}
	}
	password := func(user, password, project string) object {
		return cloud("password", map[string]string{
			"username": user, "password": password, "user_domain_name": fake.DefaultDomain,
			"project_name": project, "project_domain_name": fake.DefaultDomain,
		})
	}
	content, err := yaml.Marshal(object{"clouds": object{
		"admin":  password(fake.AdminUser, fake.AdminPassword, fake.AdminProject),
		"member": password(fake.DefaultUser, fake.DefaultPassword, fake.DefaultProject),
		"member-appcred": cloud("v3applicationcredential", map[string]string{
			"application_credential_id": credential, "application_credential_secret": fake.DefaultAppCredentialSecret,
		}),
	}})
	if err != nil {
		return nil, fmt.Errorf("encoding clouds.yaml: %w", err)
	}
	return content, nil
}
