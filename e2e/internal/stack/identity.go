package stack

import (
	"context"
	"fmt"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// catalogService is a service in the catalog. Paths are DevStack's: with a version where clients expect one.
type catalogService struct{ kind, name, url string }

// catalog has no entry for Keystone, which creates its own.
func catalog() []catalogService {
	return []catalogService{
		{"image", "glance", urlOf("glance")},
		{"placement", "placement", urlOf("placement")},
		{"compute", "nova", urlOf("nova-api") + "/v2.1"},
		{"network", "neutron", urlOf("neutron")},
		{"volumev3", "cinderv3", urlOf("cinder-api") + "/v3/%(project_id)s"},
		{"load-balancer", "octavia", urlOf("octavia")},
	}
}

// assignment assigns roles to a user in a project.
type assignment struct {
	user, password, project string
	roles                   []string
}

func assignments() []assignment {
	return []assignment{
		{serviceUser, servicePassword, serviceProject, []string{"admin", "service"}},
		{fake.AdminUser, fake.AdminPassword, fake.AdminProject, []string{"admin", "member"}},
		{fake.DefaultUser, fake.DefaultPassword, fake.DefaultProject, []string{"member", "reader", "load-balancer_member"}},
	}
}

func keystoneURL() string { return urlOf("keystone") + "/v3" }

func administrator(ctx context.Context) (*client, error) {
	return login(ctx, keystoneURL(), fake.AdminUser, fake.AdminPassword, fake.AdminProject)
}

// fillKeystone creates services, endpoints, roles, projects and users.
func fillKeystone(ctx context.Context) error {
	c, err := administrator(ctx)
	if err != nil {
		return err
	}
	for _, s := range catalog() {
		if err := c.ensureService(ctx, s); err != nil {
			return fmt.Errorf("entering %s into the catalog: %w", s.name, err)
		}
	}
	for _, a := range assignments() {
		if err := c.ensureAssignment(ctx, a); err != nil {
			return fmt.Errorf("making the user %s: %w", a.user, err)
		}
	}
	return nil
}

func (c *client) ensureService(ctx context.Context, s catalogService) error {
	service, err := c.ensure(ctx, collection{c.keystone + "/services", "service", "services"}, object{"type": s.kind}, object{"name": s.name})
	if err != nil {
		return err
	}
	for _, face := range []string{"public", "internal"} {
		_, err := c.ensure(ctx, collection{c.keystone + "/endpoints", "endpoint", "endpoints"},
			object{"service_id": service["id"], "interface": face, "region_id": fake.DefaultRegion}, object{"url": s.url})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *client) ensureAssignment(ctx context.Context, a assignment) error {
	inDomain := func(name string) object { return object{"name": name, "domain_id": "default"} }
	project, err := c.ensure(ctx, collection{c.keystone + "/projects", "project", "projects"}, inDomain(a.project), nil)
	if err != nil {
		return err
	}
	user, err := c.ensure(ctx, collection{c.keystone + "/users", "user", "users"}, inDomain(a.user), object{"password": a.password})
	if err != nil {
		return err
	}
	for _, name := range a.roles {
		role, err := c.ensure(ctx, collection{c.keystone + "/roles", "role", "roles"}, object{"name": name}, nil)
		if err != nil {
			return err
		}
		where := fmt.Sprintf("%s/projects/%s/users/%s/roles/%s", c.keystone, text(project, "id"), text(user, "id"), text(role, "id"))
		if _, err := c.call(ctx, http.MethodPut, where, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
