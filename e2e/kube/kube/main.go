// Command kube is the whole of Kubernetes in one file: which part it plays depends on the name it is called by, or on
// its first argument. One link instead of seven saves most of the building time and of the space in the cache.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllers.NewControllerManagerCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kube-proxy":              func() { os.Exit(cli.Run(proxy.NewProxyCommand())) },
	"kubelet":                 func() { os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background()))) },
	"kubectl":                 runKubectl,
}

func runKubectl() {
	if _, err := logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)); err != nil {
		fmt.Fprintln(os.Stderr, "kubectl:", err)
	}
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

func main() {
	part, known := parts[filepath.Base(os.Args[0])]
	if !known && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		part, known = parts[os.Args[0]]
	}
	if !known {
		var names []string
		for name := range parts {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "usage: kube {%s} [ARGUMENT...]\n", strings.Join(names, "|"))
		os.Exit(2)
	}
	part()
}
