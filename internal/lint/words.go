package lint

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// homePath matches absolute paths that mean something on one machine only.
	homePath = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:,])/(work|root|home/\w+)(/|\b)`)

	// tmpPath is refused in documentation only: code may need a scratch folder.
	tmpPath = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:,])/tmp\b`)

	// registryHost matches hosts of package registries and their mirrors. Which
	// one is used is the business of whoever builds.
	registryHost = regexp.MustCompile(`\b(proxy\.golang\.org|sum\.golang\.org|goproxy\.(io|cn)|` +
		`registry\.npmjs\.org|pypi\.org|(deb|security)\.debian\.org|archive\.ubuntu\.com)\b`)
)

// checkWords reports words that tie the project to one machine or one mirror.
// The checker's own sources name what they look for and are left out.
func checkWords(texts []textFile) []string {
	var bad []string
	for _, f := range texts {
		if strings.HasPrefix(f.path, "internal/lint/") {
			continue
		}
		number := 0
		for line := range strings.Lines(f.data) {
			number++
			if m := homePath.FindString(line); m != "" {
				bad = append(bad, fmt.Sprintf("%s:%d: %q is a path of one machine; make it relative, or a flag", f.path, number, m))
			}
			if strings.HasSuffix(f.path, ".md") && tmpPath.MatchString(line) {
				bad = append(bad, fmt.Sprintf("%s:%d: a path under /tmp in documentation; use a relative one", f.path, number))
			}
			if m := registryHost.FindString(line); m != "" {
				bad = append(bad, fmt.Sprintf("%s:%d: names the registry host %s; builds follow the user's own settings", f.path, number, m))
			}
		}
	}
	return bad
}
