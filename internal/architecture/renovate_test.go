package architecture

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// renovateConfig is the part of renovate.json that names files and what to find in them.
type renovateConfig struct {
	CustomManagers []struct {
		Description         string   `json:"description"`
		ManagerFilePatterns []string `json:"managerFilePatterns"`
		MatchStrings        []string `json:"matchStrings"`
		DatasourceTemplate  string   `json:"datasourceTemplate"`
	} `json:"customManagers"`
	PackageRules []struct {
		MatchFileNames []string `json:"matchFileNames"`
	} `json:"packageRules"`
}

// A pattern that matches nothing keeps nothing up to date, and nobody notices.
func TestRenovate_FindsEveryVersion(t *testing.T) {
	raw, err := os.ReadFile("../../renovate.json")
	require.NoError(t, err)
	var config renovateConfig
	require.NoError(t, json.Unmarshal(raw, &config))
	files := trackedFiles(t)
	require.NotEmpty(t, config.CustomManagers)
	found := map[string]int{}
	for _, manager := range config.CustomManagers {
		matched := 0
		for _, file := range files {
			if !matchesFile(t, manager.ManagerFilePatterns, file) {
				continue
			}
			matched++
			content, err := os.ReadFile(filepath.Join("../..", file))
			require.NoError(t, err)
			for _, expression := range manager.MatchStrings {
				for _, match := range regexp.MustCompile(expression).FindAllStringSubmatch(string(content), -1) {
					assert.NotContains(t, match, "", "%s: %s", file, match[0])
					found[file]++
				}
			}
		}
		assert.NotZero(t, matched, "%s: no file", manager.Description)
	}
	for _, file := range files {
		if filepath.Base(file) != "images.yaml" {
			continue
		}
		content, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		assert.Equal(t, strings.Count(string(content), "\n  tag: "), found[file], "%s: entries that renovate finds", file)
	}
	for _, rule := range config.PackageRules {
		assert.Subset(t, files, rule.MatchFileNames)
	}
}

func trackedFiles(t *testing.T) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files")
	list.Dir = "../.."
	output, err := list.Output()
	require.NoError(t, err)
	return strings.Fields(string(output))
}

// matchesFile takes patterns as Renovate does: a regular expression between slashes.
func matchesFile(t *testing.T, patterns []string, file string) bool {
	t.Helper()
	for _, pattern := range patterns {
		require.True(t, len(pattern) > 1 && pattern[0] == '/' && pattern[len(pattern)-1] == '/', pattern)
		if regexp.MustCompile(pattern[1 : len(pattern)-1]).MatchString(file) {
			return true
		}
	}
	return false
}
