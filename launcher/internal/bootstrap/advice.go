package bootstrap

import (
	"regexp"
	"strings"
)

// sshFailed is the exit status of ssh when it has not come as far as to run a command.
const sshFailed = 255

// sshWords are last words of OpenSSH whose reason is certain, each with what to do. HAND stands for the command line with
// which the user tries it.
var sshWords = []struct {
	said   *regexp.Regexp
	advice string
}{
	{regexp.MustCompile(`^Host key verification failed\.$`),
		"ssh does not know the key of that host, or knows another one: run HAND in a terminal, which says which, and accept the key there if it is right"},
	{regexp.MustCompile(`^\S+: Permission denied \([a-z0-9,-]+\)\.$`),
		"the login must work without a question: give that user a key (ssh-copy-id, ssh-agent), or name another one as USER@HOST, until HAND asks nothing"},
	{regexp.MustCompile(`^ssh: connect to host \S+ port \d+: Connection refused$`),
		"no ssh server listens there: start sshd on that host, or name its port, as with --ssh 'ssh -p PORT', until HAND works"},
	{regexp.MustCompile(`^ssh: Could not resolve hostname \S+: Name or service not known$`),
		"correct the name in --hosts or --hostfile, or give the host an address there or by HostName in ~/.ssh/config"},
}

// adviceOf says what to do about the last words of an ssh that has failed; byHand is the command line with which the user
// tries it. It is empty for words that are not known.
func adviceOf(said, byHand string) string {
	for _, w := range sshWords {
		if w.said.MatchString(said) {
			return strings.ReplaceAll(w.advice, "HAND", "'"+byHand+"'")
		}
	}
	return ""
}
