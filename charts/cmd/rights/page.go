package main

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/charts"
)

// pageTemplate are what no chart says: what the rights are for, and what they come to.
//
//go:embed page.md.tmpl
var pageTemplate string

func page() (string, error) {
	var all []rights
	for _, name := range charts.Names() {
		one, err := rightsOf(name)
		if err != nil {
			return "", err
		}
		all = append(all, one)
	}
	parsed, err := template.New("page").Option("missingkey=error").Parse(pageTemplate)
	if err != nil {
		return "", fmt.Errorf("reading the words of the page: %w", err)
	}
	garden, err := rightsOfAdmission(admissionTypes()...)
	if err != nil {
		return "", err
	}
	installer, namespaces, err := rightsOfInstaller()
	if err != nil {
		return "", err
	}
	secondaries, err := rightsOfSecondaries()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = parsed.Execute(&text, map[string]string{
		"Everywhere":    table(all, func(r rights) []rbacv1.PolicyRule { return r.clusterWide }),
		"At":            table(all, func(r rights) []rbacv1.PolicyRule { return r.inNamespace }),
		"Secondaries":   table(secondaries, func(r rights) []rbacv1.PolicyRule { return r.clusterWide }),
		"AtSecondaries": table(secondaries, func(r rights) []rbacv1.PolicyRule { return r.inNamespace }),
		"Garden":        table(garden, func(r rights) []rbacv1.PolicyRule { return r.clusterWide }),
		"InGarden":      table(garden[:1], func(r rights) []rbacv1.PolicyRule { return r.inNamespace }),

		"Installer":           table([]rights{installer}, func(r rights) []rbacv1.PolicyRule { return r.clusterWide }),
		"InstallerNamespaces": table(namespaces, func(r rights) []rbacv1.PolicyRule { return r.inNamespace }),
	})
	if err != nil {
		return "", fmt.Errorf("writing the page: %w", err)
	}
	return text.String(), nil
}

// admissionTypes are all types that admission has.
func admissionTypes() []string {
	return []string{"openstack", "aws", "calico", "gardenet", "registrations"}
}
