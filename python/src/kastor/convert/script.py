"""Conversion of a script, by where its code trains."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kastor.convert.code import Code, Loop, Scope, callee, calls, given, is_constant, names_in, owner
from kastor.convert.edits import Edits

_PLACES = ("dataset", "batch_size", "shuffle", "sampler")
_FRAMEWORKS = {"lightning", "pytorch_lightning", "transformers"}
_DISTRIBUTED = ("init_process_group", "DistributedDataParallel", "DataParallel", "DDP")


class NotConvertedError(Exception):
    """Error of a script in which no training loop was found that can be converted; its text begins with a line."""


@dataclass(frozen=True)
class Converted:
    """Text of the elastic script, and what is left to do by hand, each with its line."""

    text: str
    notes: list[str]


@dataclass(frozen=True)
class _Site:
    """Place at which a script trains.

    ``loop`` is that over batches, ``outer`` the loop over epochs or the former where there is none, which is in
    ``scope``; ``names`` are those of the scope by the parameters of a function that has the loop over batches.
    """

    loop: ast.For
    outer: ast.For
    scope: Scope
    names: dict[str, str]


def converted(text: str, name: str = "the script") -> Converted:
    """Elastic form of a script.

    Raises:
        SyntaxError: if it is no Python.
        NotConvertedError: if it has no training loop that can be seen.
    """
    return _Conversion(text, name).convert()


class _Conversion:
    """Conversion of one script."""

    def __init__(self, text: str, name: str) -> None:
        self._code, self._edits = Code(text, name), Edits(text)
        self._notes: set[tuple[int, str]] = set()
        self._job = "elastic_job" if "job" in names_in(self._code.tree) else "job"

    def convert(self) -> Converted:
        """Elastic form of the script."""
        site = self._site()
        prepared = self._prepare(site)
        made = self._loader(site)
        # The job comes before what uses it.
        begins = min((each for each in (made, prepared, site.outer) if each is not None), key=lambda each: each.lineno)
        self._import(begins)
        self._edits.before(begins, f"{self._job} = kastor.init()")
        if site.outer is not site.loop:
            self._epochs(site.outer)
        self._finish(site)
        self._look(site)
        text = self._edits.applied()
        try:
            compile(text, "converted", "exec", dont_inherit=True)
        except SyntaxError as e:
            raise NotConvertedError(f"{site.loop.lineno}: the lines do not fit in here. Write them by hand") from e
        return Converted(text, [f"{line}: {note}" for line, note in sorted(self._notes)])

    def _import(self, begins: ast.stmt) -> None:
        line, top = "import kastor.torch as kastor", self._code.tree.body
        imports = [
            node for node in top if isinstance(node, (ast.Import, ast.ImportFrom)) and node.lineno < begins.lineno
        ]
        if imports:
            self._edits.after(imports[-1], line)
        elif ast.get_docstring(self._code.tree, clean=False) is not None:
            self._edits.after(top[0], line)
        else:
            self._edits.first(line)

    def _finish(self, site: _Site) -> None:
        """Ends the job after what follows the loop, often an evaluation: replicas are not kept beyond."""
        last = self._code.block(site.outer)[-1]
        place = self._edits.before if isinstance(last, (ast.Return, ast.Raise)) else self._edits.after
        place(last, f"{self._job}.finish()")

    # --- where it trains ---

    def _site(self) -> _Site:
        code, loop, names = self._code, self._loop_over_batches(), dict[str, str]()
        scope, outer = code.scope(loop), code.loop_around(loop)
        if outer is None and isinstance(scope, ast.FunctionDef):
            # A function that trains for an epoch, called in the loop over epochs.
            found = code.calls_of(scope)
            if len(found) != 1:
                raise NotConvertedError(
                    f"{loop.lineno}: cannot see from where {scope.name}(), which has the loop, is called. Write the"
                    " lines by hand"
                )
            (call,) = found
            outer = code.loop_around(call)
            if outer is not None:
                matched = _matched(scope, call)
                names = {parameter.arg: each.id for parameter, each in matched if isinstance(each, ast.Name)}
                scope = code.scope(call)
        if isinstance(outer, ast.While):
            raise NotConvertedError(
                f"{outer.lineno}: the loop over epochs is a while. Write: for epoch in {self._job}.epochs(n)"
            )
        site = _Site(loop, outer or loop, scope, names)
        again = code.loop_around(site.outer)
        if again is None and isinstance(scope, ast.FunctionDef):
            around = [code.loop_around(call) for call in code.calls_of(scope)]
            again = next((each for each in around if each is not None), None)
        if again is not None:
            raise NotConvertedError(f"{again.lineno}: the loop trains again and again, and a job trains once")
        return site

    def _loop_over_batches(self) -> ast.For:
        training = [
            node
            for node in ast.walk(self._code.tree)
            if isinstance(node, Loop) and calls(node, "backward") and calls(node, "step")
        ]
        found = [loop for loop in training if isinstance(loop, ast.For) and not calls(loop.iter, "range")]
        found = [loop for loop in found if not any(each is not loop and each in ast.walk(loop) for each in found)]
        if len(found) == 1:
            return found[0]
        if found:
            lines = " and ".join(str(loop.lineno) for loop in found)
            raise NotConvertedError(f"{found[0].lineno}: several loops train, at lines {lines}, and a job has one")
        if training:
            raise NotConvertedError(
                f"{training[-1].lineno}: the loop draws its batches itself. Make a data set of what it draws from, and"
                " loop over a DataLoader"
            )
        frameworks = sorted(self._code.imported() & _FRAMEWORKS)
        if frameworks:
            raise NotConvertedError(f"1: {frameworks[0]} has the loop. Its own few lines: docs/pytorch.md, Frameworks")
        raise NotConvertedError("1: no loop calls backward() and step(). Convert the file that has it")

    # --- what changes ---

    def _loader(self, site: _Site) -> ast.stmt | None:
        """Makes the loader the job's; the statement of the loop's block, or of the module, that makes it."""
        iterated = sorted(names_in(site.loop.iter))
        made = [
            node
            for name in iterated
            for node in self._code.assignments(site.names.get(name, name), site.scope)
            if callee(node.value) == "DataLoader"
        ]
        direct = calls(site.loop.iter, "DataLoader")
        if len(made) + len(direct) != 1:
            self._note(site.loop, f"its loader is not made here by DataLoader. Make it by {self._job}.loader(...)")
            return None
        call = made[0].value if made else direct[0]
        assert isinstance(call, ast.Call)
        self._edits.replace(call.func, f"{self._job}.loader")
        named = {keyword.arg for keyword in call.keywords} | set(_PLACES[: len(call.args)])
        if len(call.args) > len(_PLACES):
            self._note(call, "an argument has no name, and its place is of another one in job.loader. Name it")
        if None in named:
            self._note(call, f"its options are in a dict. Without shuffle among them {self._job}.loader shuffles")
        elif "batch_sampler" in named:
            self._note(call, "batch_sampler is refused. Give the sampler of single examples that it has, as sampler")
        else:
            if "shuffle" not in named:
                # Which DataLoader does not, and job.loader does; a sampler may be None.
                self._edits.append(call, "shuffle=False")
            if "batch_size" not in named:
                self._edits.append(call, "batch_size=1")
        if site.outer is not site.loop and (direct or site.outer in self._code.around(made[0])):
            self._note(call, "the loader is made anew in each epoch. Make it before the loop over epochs")
        return self._beside(made[0], site) if made else site.outer

    def _prepare(self, site: _Site) -> ast.stmt | None:
        """Registers what is trained; the first statement beside the loop that makes some of it."""
        code, assigned = self._code, self._code.assigned(site.scope)
        scalers = [name for name, nodes in assigned.items() if any(callee(n.value) == "GradScaler" for n in nodes)]
        optimizers = self._optimizers(site, scalers, assigned)
        if not optimizers:
            self._note(site.loop, f"its optimizer is not made here. Call {self._job}.prepare(model, optimizer) before")
            return None
        models = list(dict.fromkeys(m for name in optimizers for m in self._models(assigned[name], site)))
        schedulers = [
            name
            for name, nodes in assigned.items()
            if name not in scalers
            and any(isinstance(n.value, ast.Call) and _takes(n.value, optimizers) for n in nodes)
            and (name in site.names.values() or any(owner(call) == name for call in calls(code.tree, "step")))
        ]
        several = len(optimizers) > 1
        arguments = [models[0] if len(models) == 1 else f"torch.nn.ModuleList([{', '.join(models)}])"]
        arguments.append(_list(optimizers) if several else optimizers[0])
        if several and schedulers:
            arguments.append(_list(schedulers))
        elif schedulers:
            arguments.append(schedulers[0])
        arguments += [f"scaler={name}" for name in scalers[:1]]
        arguments += [f"{name}={name}" for name in schedulers[1:] if not several]
        line = f"{self._job}.prepare({', '.join(arguments)})"

        made = [node for name in (*models, *optimizers, *schedulers, *scalers) for node in assigned.get(name, [])]
        here = [node for node in made if code.scope(node) is code.scope(site.outer)]
        late = [node for node in here if self._beside(node, site).lineno >= site.outer.lineno]
        if late:
            self._note(late[0], f"what is trained is made anew in the loop. Make it before, then: {line}")
            return None
        beside = sorted((self._beside(node, site) for node in here), key=lambda each: each.lineno)
        if beside and beside[-1] in code.block(site.outer):
            self._edits.after(beside[-1], line)
            return beside[0]
        self._edits.before(site.outer, line)
        return None

    def _optimizers(self, site: _Site, scalers: list[str], assigned: dict[str, list[ast.Assign]]) -> list[str]:
        """Optimizers: what is stepped in the loop and was made of parameters."""
        stepped = []
        for call in calls(site.loop, "step"):
            name = site.names.get(owner(call), owner(call))
            if name in scalers and call.args and isinstance(call.args[0], ast.Name):
                name = site.names.get(call.args[0].id, call.args[0].id)
            if name in assigned:
                stepped.append(name)
        made = {name: [n.value for n in assigned[name] if isinstance(n.value, ast.Call)] for name in stepped}
        # Schedulers are stepped too, and are made of an optimizer.
        return [
            name
            for name, values in made.items()
            if not any(_takes(value, stepped) for value in values) and self._models(assigned[name], site)
        ]

    def _beside(self, statement: ast.stmt, site: _Site) -> ast.stmt:
        """Statement beside the outer loop in which another one is; the outermost where there is none."""
        return self._code.in_block(statement, self._code.block(site.outer)) or self._code.around(statement)[-1]

    def _models(self, made: list[ast.Assign], site: _Site) -> list[str]:
        """Models whose parameters these objects were given, as they are or in lists with a name."""
        values: list[ast.expr] = [node.value for node in made if isinstance(node.value, ast.Call)]
        found = _with_parameters(values)
        if not found:
            named = sorted({name for value in values for name in names_in(value)})
            found = _with_parameters([n.value for name in named for n in self._code.assignments(name, site.scope)])
        return found

    def _epochs(self, loop: ast.For) -> None:
        ranges = calls(loop.iter, "range")
        if len(ranges) != 1 or len(ranges[0].args) not in (1, 2):
            self._note(loop, f"the loop over epochs is not one over range(n). Write: in {self._job}.epochs(n)")
            return
        (*start, stop), number = ranges[0].args, ast.unparse(ranges[0].args[-1])
        if not start or is_constant(start[0], 0):
            self._edits.replace(ranges[0], f"{self._job}.epochs({number})")
        elif is_constant(start[0], 1):
            one_more = isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add) and is_constant(stop.right, 1)
            number = ast.unparse(stop.left) if one_more and isinstance(stop, ast.BinOp) else f"({number}) - 1"
            self._edits.replace(ranges[0], f"(done + 1 for done in {self._job}.epochs({number}))")
        else:
            self._edits.replace(ranges[0], f"{self._job}.epochs({number})")
            self._note(
                loop, f"the epochs began at {ast.unparse(start[0])}. A job goes on from its own checkpoint by itself"
            )

    # --- what is named ---

    def _look(self, site: _Site) -> None:
        loaders = names_in(site.loop.iter) | {site.names.get(name, name) for name in names_in(site.loop.iter)}
        for node in ast.walk(site.loop):
            if isinstance(node, ast.Continue) and self._code.loop_around(node) is site.loop:
                self._note(node, "continue skips a batch, and each must be trained on")
            elif isinstance(node, ast.If) and calls(node, "step") and _has_modulo(node.test):
                self._note(
                    node,
                    "the optimizer steps once in several batches. Kastor adds passes up itself: multiply batch_size by"
                    " that number, and set it to 1",
                )
        for node in ast.walk(self._code.tree):
            if callee(node) in _DISTRIBUTED and isinstance(node, ast.Call):
                self._note(node, f"take {callee(node)} out: the job has the replicas")
            elif callee(node) == "save" and isinstance(node, ast.Call) and owner(node) == "torch":
                self._note(node, f"each replica writes it. Let one: {self._job}.rank0(torch.save, ...)")
            elif callee(node) == "LBFGS" and isinstance(node, ast.Call):
                self._note(node, "LBFGS passes each batch several times, which an elastic job does not")
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_length_of(node.right, loaders):
                self._note(
                    node,
                    "a sum over this replica's share is divided by the length of all. Divide by what was counted, then"
                    f" take {self._job}.average(...)",
                )

        self._look_for_counts(site)

    def _look_for_counts(self, site: _Site) -> None:
        """Names what the script counts on its own and then decides by: a replica that joins has not counted it."""
        code, job = self._code, self._job
        epoch = {each.id for each in ast.walk(site.outer.target) if isinstance(each, ast.Name)} - {"_"}
        epoch |= {parameter for parameter, name in site.names.items() if name in epoch}
        if site.outer is site.loop:
            epoch.clear()
        counted = code.carried(site.outer)
        for node in ast.walk(code.tree):
            if not isinstance(node, ast.If):
                continue
            inside = site.outer in code.around(node)
            known = code.shared(node) | (counted if inside else set())
            if inside or (site.names and code.scope(node) is code.scope(site.loop)):
                known |= epoch
            for name in sorted(names_in(node.test) & known):
                if name in epoch:
                    self._note(node, f"{name} is that of the first epoch where a replica joins later. Ask {job}.epoch")
                else:
                    self._note(
                        node,
                        f"{name} is what this replica has seen since its own start. Ask {job}.step,"
                        f" {job}.epoch_progress or {job}.is_best(...)",
                    )

    def _note(self, node: ast.expr | ast.stmt, text: str) -> None:
        self._notes.add((node.lineno, text))


def _with_parameters(values: list[ast.expr]) -> list[str]:
    """Models whose parameters are asked for, as expressions."""
    asked = [call for value in values for kind in ("parameters", "named_parameters") for call in calls(value, kind)]
    found = [call.func.value for call in asked if isinstance(call.func, ast.Attribute)]
    return list(dict.fromkeys(ast.unparse(_whole(each)) for each in found))


def _whole(module: ast.expr) -> ast.expr:
    """Model of which a module is a part, as all of it is trained: buffers, and layers that are unfrozen later."""
    while isinstance(module, (ast.Attribute, ast.Subscript)) and not _is_self(module.value):
        module = module.value
    return module


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _matched(function: ast.FunctionDef, call: ast.Call) -> list[tuple[ast.arg, ast.expr]]:
    parameters = [*function.args.posonlyargs, *function.args.args]
    by_name = {each.arg: each for each in [*parameters, *function.args.kwonlyargs]}
    named = [(by_name[each.arg], each.value) for each in call.keywords if each.arg in by_name]
    return [*zip(parameters, call.args, strict=False), *named]


def _takes(call: ast.Call, names: list[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in given(call))


def _list(names: list[str]) -> str:
    return f"[{', '.join(names)}]"


def _has_modulo(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))


def _is_length_of(node: ast.expr, loaders: set[str]) -> bool:
    """Whether an expression is ``len(loader.dataset)``."""
    argument = node.args[0] if isinstance(node, ast.Call) and callee(node) == "len" and node.args else None
    return isinstance(argument, ast.Attribute) and argument.attr == "dataset" and bool(names_in(argument) & loaders)
