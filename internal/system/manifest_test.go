package system

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The fields of the Kubernetes API that the files of deploy/kubernetes use, with their types.
type (
	objectHead struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Metadata   objectMeta `json:"metadata"`
	}
	objectMeta struct {
		Name   string            `json:"name,omitempty"`
		Labels map[string]string `json:"labels,omitempty"`
	}
	kubeService struct {
		objectHead
		Spec struct {
			ClusterIP                string            `json:"clusterIP"`
			PublishNotReadyAddresses bool              `json:"publishNotReadyAddresses"`
			Selector                 map[string]string `json:"selector"`
		} `json:"spec"`
	}
	labelSelector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
	policyPeer struct {
		PodSelector       *labelSelector `json:"podSelector,omitempty"`
		NamespaceSelector *labelSelector `json:"namespaceSelector,omitempty"`
	}
	policyPort struct {
		Protocol string `json:"protocol"`
		Port     int    `json:"port"`
	}
	policyRule struct {
		From  []policyPeer `json:"from,omitempty"`
		To    []policyPeer `json:"to,omitempty"`
		Ports []policyPort `json:"ports,omitempty"`
	}
	kubePolicy struct {
		objectHead
		Spec struct {
			PodSelector labelSelector `json:"podSelector"`
			PolicyTypes []string      `json:"policyTypes"`
			Ingress     []policyRule  `json:"ingress"`
			Egress      []policyRule  `json:"egress"`
		} `json:"spec"`
	}
	jobSpec struct {
		CompletionMode string `json:"completionMode"`
		Completions    int    `json:"completions"`
		Parallelism    int    `json:"parallelism"`
		BackoffLimit   int    `json:"backoffLimit"`
		Template       struct {
			Metadata objectMeta `json:"metadata"`
			Spec     podSpec    `json:"spec"`
		} `json:"template"`
	}
	podSpec struct {
		Subdomain                    string      `json:"subdomain,omitempty"`
		RestartPolicy                string      `json:"restartPolicy"`
		AutomountServiceAccountToken bool        `json:"automountServiceAccountToken"`
		SecurityContext              podSecurity `json:"securityContext"`
		Containers                   []container `json:"containers"`
		Volumes                      []volume    `json:"volumes"`
	}
	podSecurity struct {
		RunAsNonRoot   bool `json:"runAsNonRoot"`
		RunAsUser      int  `json:"runAsUser"`
		RunAsGroup     int  `json:"runAsGroup"`
		FSGroup        int  `json:"fsGroup"`
		SeccompProfile struct {
			Type string `json:"type"`
		} `json:"seccompProfile"`
	}
	container struct {
		Name            string        `json:"name"`
		Image           string        `json:"image"`
		Command         []string      `json:"command"`
		Env             []envVariable `json:"env"`
		SecurityContext struct {
			AllowPrivilegeEscalation bool `json:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool `json:"readOnlyRootFilesystem"`
			Capabilities             struct {
				Drop []string `json:"drop"`
			} `json:"capabilities"`
		} `json:"securityContext"`
		Resources struct {
			Requests map[string]string `json:"requests"`
			Limits   map[string]string `json:"limits"`
		} `json:"resources"`
		VolumeMounts []volumeMount `json:"volumeMounts"`
	}
	volumeMount struct {
		Name      string `json:"name"`
		MountPath string `json:"mountPath"`
		ReadOnly  bool   `json:"readOnly"`
	}
	envVariable struct {
		Name      string     `json:"name"`
		Value     string     `json:"value,omitempty"`
		ValueFrom *envSource `json:"valueFrom,omitempty"`
	}
	envSource struct {
		FieldRef struct {
			FieldPath string `json:"fieldPath"`
		} `json:"fieldRef"`
	}
	volume struct {
		Name   string `json:"name"`
		Secret struct {
			SecretName  string `json:"secretName"`
			DefaultMode int    `json:"defaultMode"`
		} `json:"secret"`
	}
	kubeJob struct {
		objectHead
		Spec jobSpec `json:"spec"`
	}
	kubeJobSet struct {
		objectHead
		Spec struct {
			Network struct {
				EnableDNSHostnames       bool   `json:"enableDNSHostnames"`
				Subdomain                string `json:"subdomain"`
				PublishNotReadyAddresses bool   `json:"publishNotReadyAddresses"`
			} `json:"network"`
			FailurePolicy struct {
				MaxRestarts int `json:"maxRestarts"`
			} `json:"failurePolicy"`
			ReplicatedJobs []struct {
				Name     string `json:"name"`
				Replicas int    `json:"replicas"`
				Template struct {
					Spec jobSpec `json:"spec"`
				} `json:"template"`
			} `json:"replicatedJobs"`
		} `json:"spec"`
	}
)

// A deployment is what a file of deploy/kubernetes asks for, as far as its pods can tell.
type deployment struct {
	job       jobSpec
	policy    kubePolicy
	names     []string          // of the pods in the cluster's name service, without its domain; the index is the pod's
	published bool              // also before pods are ready
	selector  map[string]string // of the pods that a Service names
}

// as decodes a document whose fields must all be in T, by exactly these names and types, and
// all that T has must be in the document.
func as[T any](t *testing.T, document any) (v T) {
	t.Helper()
	text, err := json.Marshal(document)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	var back any
	text, err = json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if d := cmp.Diff(document, back); d != "" || err != nil {
		t.Fatalf("%v: the file has other fields than this test knows (-file +test):\n%s", err, d)
	}
	return v
}

// readDeployment decodes a file of deploy/kubernetes.
func readDeployment(t *testing.T, name string) (d deployment) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := readYAML(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, document := range documents {
		m, _ := document.(map[string]any)
		switch kind := fmt.Sprint(m["apiVersion"], " ", m["kind"]); kind {
		case "v1 Service":
			d.addService(t, as[kubeService](t, document))
		case "networking.k8s.io/v1 NetworkPolicy":
			d.policy = as[kubePolicy](t, document)
		case "batch/v1 Job":
			d.addJob(t, as[kubeJob](t, document))
		case "jobset.x-k8s.io/v1alpha2 JobSet":
			d.addJobSet(t, as[kubeJobSet](t, document))
		default:
			t.Fatalf("%s: an object of kind %s", name, kind)
		}
	}
	return d
}

// addService takes a Service, which comes before the Job whose pods it names.
func (d *deployment) addService(t *testing.T, s kubeService) {
	if s.Spec.ClusterIP != "None" {
		t.Errorf("clusterIP is %s: only a headless Service names pods", s.Spec.ClusterIP)
	}
	d.published, d.selector = s.Spec.PublishNotReadyAddresses, s.Spec.Selector
	d.names = []string{s.Metadata.Name} // of the subdomain, until the job is known
}

func (d *deployment) addJob(t *testing.T, j kubeJob) {
	d.job = j.Spec
	subdomain := j.Spec.Template.Spec.Subdomain
	if !slices.Equal(d.names, []string{subdomain}) {
		t.Fatalf("subdomain is %q; the Service is %q", subdomain, d.names)
	}
	if labels := j.Spec.Template.Metadata.Labels; !selects(d.selector, labels) {
		t.Errorf("the Service names pods with %v; those of the job have %v", d.selector, labels)
	}
	d.name(j.Metadata.Name, subdomain)
}

func (d *deployment) addJobSet(t *testing.T, s kubeJobSet) {
	if len(s.Spec.ReplicatedJobs) != 1 || s.Spec.ReplicatedJobs[0].Replicas != 1 || !s.Spec.Network.EnableDNSHostnames {
		t.Fatalf("expected one job with names: %+v", s.Spec)
	}
	only := s.Spec.ReplicatedJobs[0]
	d.job, d.published = only.Template.Spec, s.Spec.Network.PublishNotReadyAddresses
	d.name(s.Metadata.Name+"-"+only.Name+"-0", s.Spec.Network.Subdomain)
}

// name gives pods their names, by the rule of Indexed Jobs.
func (d *deployment) name(job, subdomain string) {
	d.names = nil
	for i := range d.job.Completions {
		d.names = append(d.names, fmt.Sprintf("%s-%d.%s", job, i, subdomain))
	}
}

// environment is what Kubernetes gives the pod with this index, and nothing else: what the
// file says, and the index, which every container of an Indexed Job gets.
func (d *deployment) environment(t *testing.T, index int) (env []string) {
	t.Helper()
	fields := map[string]string{
		"metadata.annotations['batch.kubernetes.io/job-completion-index']": fmt.Sprint(index),
		"metadata.labels['batch.kubernetes.io/controller-uid']":            "0b7b2ee0-6b1c-4f1e-9c2e-3b8f0c9d7a51",
	}
	env = append(env, fmt.Sprint("JOB_COMPLETION_INDEX=", index))
	for _, e := range d.job.Template.Spec.Containers[0].Env {
		value := e.Value
		if e.ValueFrom != nil {
			var known bool
			if value, known = fields[e.ValueFrom.FieldRef.FieldPath]; !known {
				t.Fatalf("%s comes from %q, which pods of an Indexed Job do not have", e.Name, e.ValueFrom.FieldRef.FieldPath)
			}
		}
		env = append(env, e.Name+"="+value)
	}
	return env
}

// setting is the value of a variable of pod 1, or of a flag of its command.
func (d *deployment) setting(t *testing.T, name string) string {
	t.Helper()
	command := d.job.Template.Spec.Containers[0].Command
	if i := slices.Index(command, name); i >= 0 && i+1 < len(command) {
		return command[i+1]
	}
	for _, e := range d.environment(t, 1) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// ranks is how many ranks a pod has.
func (d *deployment) ranks(t *testing.T) int {
	t.Helper()
	text := d.setting(t, "-n")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// selects reports whether a selector takes pods with these labels.
func selects(want, labels map[string]string) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return len(want) > 0
}

var manifests = []string{"job.yaml", "jobset.yaml", "nodes.yaml"}

// Goal: what a manifest says in several places agrees, and what Kubernetes would not tell
// before a job hangs is seen here.
func TestManifestsAgreeWithThemselves(t *testing.T) {
	for _, file := range manifests {
		t.Run(file, func(t *testing.T) {
			d := readDeployment(t, file)
			if j := d.job; j.CompletionMode != "Indexed" || j.Parallelism != j.Completions || j.BackoffLimit != 0 || j.Template.Spec.RestartPolicy != "Never" || !d.published {
				t.Errorf("pods are not numbered, not all there at a time, come back alone, or have names too late: %+v", j)
			}
			if len(d.job.Template.Spec.Containers) != 1 || len(d.job.Template.Spec.Volumes) != 1 {
				t.Fatal("expected one container and one volume")
			}
			c, v := d.job.Template.Spec.Containers[0], d.job.Template.Spec.Volumes[0]
			rendezvous, pods := d.names[0]+":7117", fmt.Sprint(d.job.Completions)
			says := map[string]string{"GASPI_SIZE": pods, "GASPI_RANK": "1", "GASPI_RENDEZVOUS": rendezvous}
			if c.Command[0] == "/gaspi-run" {
				says = map[string]string{"--nnodes": pods, "--rendezvous": rendezvous}
			}
			says["GASPI_KEY_FILE"] = path.Join(c.VolumeMounts[0].MountPath, "key")
			for name, want := range says {
				if got := d.setting(t, name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != v.Name {
				t.Errorf("%v mounts another volume than %v", c.VolumeMounts, v)
			}
			checkPolicy(t, d.policy, d.job.Template.Metadata.Labels)
		})
	}
}

// checkPolicy checks that pods with these labels reach each other at all ports.
func checkPolicy(t *testing.T, p kubePolicy, labels map[string]string) {
	t.Helper()
	if !selects(p.Spec.PodSelector.MatchLabels, labels) || !slices.Equal(p.Spec.PolicyTypes, []string{"Ingress", "Egress"}) {
		t.Errorf("the policy is about other pods than %v: %+v", slices.Sorted(maps.Keys(labels)), p.Spec)
	}
	among := func(rules []policyRule) bool {
		return slices.ContainsFunc(rules, func(r policyRule) bool {
			return len(r.Ports) == 0 && slices.ContainsFunc(append(r.From, r.To...), func(p policyPeer) bool {
				return p.NamespaceSelector == nil && p.PodSelector != nil && selects(p.PodSelector.MatchLabels, labels)
			})
		})
	}
	if !among(p.Spec.Ingress) || !among(p.Spec.Egress) {
		t.Errorf("pods of the job do not reach each other at all ports: %+v", p.Spec)
	}
}
