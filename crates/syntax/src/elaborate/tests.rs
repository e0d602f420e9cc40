//! `test` declarations.

use lift_ir::{Context, Expr, Facts, Program, Subject, Test, Type};

use super::calls::is_generic;
use super::errors::Errors;
use super::scope::{Binding, Declaration, Env, Home, Module};
use super::sizes::unwrapped;
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, ExprKind};

pub(super) fn check_test<'a>(
    test: &'a ast::Test,
    module: &'a Module<'a>,
    program: &Program,
) -> Result<Test> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    let env = Env::new(Home::User);
    let (subject, ty) = elaborator.subject(&test.left, &env, program)?;
    let expected = elaborator.expr(&test.right, &env, Hint::Type(&ty))?;
    let (subject, ty) = (elaborator.finished_subject(subject), elaborator.finished_type(&ty));
    let expected = elaborator.finished(&expected);
    if !elaborator.cx.same_type(&ty, expected.ty()) {
        let text = format!("the left side is `{ty}`, the right side `{}`", expected.ty());
        return Err(Errors::at(test.right.span, text));
    }
    Ok(Test {
        name: test.name.text.clone(),
        span: test.span,
        subject,
        approximate: test.approximate,
        expected,
    })
}

impl<'a> Elaborator<'a> {
    /// A call of a definition stays one, so that it can run on a device; anything else is expanded.
    fn subject(
        &self,
        ast: &'a ast::Expr,
        env: &Env<'a>,
        program: &Program,
    ) -> Result<(Subject, Type)> {
        if let ExprKind::Call(head, args) = &unwrapped(ast).kind
            && let ExprKind::Name(name) = &unwrapped(head).kind
            && let Some((Declaration::Def(def), Home::User)) = self.module.find(Home::User, name)
            && !is_generic(def)
            && def.params.len() == args.len()
        {
            let Some(index) = program.defs.iter().position(|d| d.name == *name) else {
                // The definition has errors of its own, and they are reported.
                return Err(Errors(Vec::new()));
            };
            let given: Vec<Given> = args.iter().map(|a| Given::Ast(a, env.clone())).collect();
            let call = self.instantiate(def, Home::User, &given, ast.span)?;
            let ret = self.ret_type(&program.defs[index].ret, &call.env);
            let args: Vec<Expr> = call.values.into_iter().map(|(_, value)| value).collect();
            return Ok((Subject::Call { def: index, args }, ret));
        }
        let value = self.expr(ast, env, Hint::None)?;
        let ty = value.ty().clone();
        Ok((Subject::Expr(value), ty))
    }

    fn finished_subject(&self, subject: Subject) -> Subject {
        match subject {
            Subject::Call { def, args } => {
                Subject::Call { def, args: args.iter().map(|a| self.finished(a)).collect() }
            }
            Subject::Expr(expr) => Subject::Expr(self.finished(&expr)),
        }
    }

    /// The declared result with the sizes of the call.
    fn ret_type(&self, ret: &Type, env: &Env<'a>) -> Type {
        let sized = ret.map_sizes(&|size| {
            size.substitute(&|var| match env.get(var.name()) {
                Some(Binding::Size(size)) if var.id() == 0 => Some(size.clone()),
                _ => None,
            })
        });
        self.cx.simplify_type(&sized)
    }
}
